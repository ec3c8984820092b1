//! What a file may ask for. A reader checks these before it allocates or loops; the writer refuses to exceed them.

use artifact_core::limit::Limit;

/// Rows of the section table.
pub const SECTIONS: Limit = Limit::new("the number of sections", 65_535, "sections");
/// Bytes of the section table, names included.
pub const TABLE_BYTES: Limit = Limit::new("the section table", 24 << 20, "bytes");
/// Length of a section's name.
pub const SECTION_NAME_BYTES: Limit = Limit::new("a section name", 255, "bytes");
/// Decompressed manifest.
pub const MANIFEST_BYTES: Limit = Limit::new("the manifest", 16 << 20, "bytes");
/// Decompressed program, and any other section that is read into memory as a whole.
pub const PAYLOAD_BYTES: Limit = Limit::new("a section that is read into memory", 1 << 30, "bytes");
/// Raw bytes of all sections that are compressed: what a small file can make its reader decompress.
pub const DECOMPRESSED_BYTES: Limit =
    Limit::new("what the compressed sections hold together", 4 << 30, "bytes");
/// Derivatives of a program.
pub const DERIVATIVES: Limit = Limit::new("the number of derivatives", 64, "derivatives");
/// One constant: 1 TiB.
pub const CONSTANT_BYTES: Limit = Limit::new("a constant", 1 << 40, "bytes");
/// All chunk digests together: those of 2 TiB of constants.
pub const CHUNK_DIGESTS_BYTES: Limit = Limit::new("the chunk digests", 64 << 20, "bytes");

/// MessagePack containers inside each other.
pub const MANIFEST_DEPTH: Limit = Limit::new("the manifest's nesting", 16, "levels");
/// MessagePack values, keys included.
pub const MANIFEST_VALUES: Limit = Limit::new("the number of values in the manifest", 1 << 20, "values");
/// One text in the manifest.
pub const TEXT_BYTES: Limit = Limit::new("a text in the manifest", 64 << 10, "bytes");
/// Dimensions of one input, output or constant.
pub const RANK: Limit = Limit::new("the rank of a value", 1024, "dimensions");

/// A zstd frame may ask for a window of 2^23 bytes (8 MiB) at most.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Seals of one file.
pub const SEALS: Limit = Limit::new("the number of seals", 64, "seals");
/// All seals of a file together.
pub const SEAL_BLOCK_BYTES: Limit = Limit::new("the seal block", 1 << 20, "bytes");
/// What a seal says that the file is for.
pub const SEAL_SCOPE_BYTES: Limit = Limit::new("the scope of a seal", 255, "bytes");
/// The remark in a seal.
pub const SEAL_COMMENT_BYTES: Limit = Limit::new("the comment of a seal", 1024, "bytes");
/// A key file.
pub const KEY_FILE_BYTES: Limit = Limit::new("a key file", 4096, "bytes");
/// A trust file.
pub const TRUST_FILE_BYTES: Limit = Limit::new("a trust file", 1 << 20, "bytes");
/// Keys that a trust file trusts, or keys or files that it revokes.
pub const TRUST_ENTRIES: Limit = Limit::new(
    "the number of entries of one kind in a trust file",
    4096,
    "entries",
);
