//! What a file holds, without reading it again: a plugin is hundreds of megabytes, and its digest is part of every key.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use artifact_core::digest::{Digest, Domain, Hasher};

/// What tells a file from what it was before: where it is, and when it was changed last, in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    pub(crate) fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl fmt::Display for FileStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device,
            inode,
            size,
            modified,
            changed,
        } = self;
        write!(
            f,
            "{device} {inode} {size} {}.{} {}.{}",
            modified.0, modified.1, changed.0, changed.1
        )
    }
}

/// Remembers digests of files from one process to the next. What it says is believed: it is asked about the identity of compilers.
pub trait FileDigests: fmt::Debug + Send + Sync {
    /// The digest of a file that is as it was then.
    fn find(&self, stamp: &FileStamp) -> Option<Digest>;

    /// Remembers it. Where that does not work, the file is read again the next time.
    fn keep(&self, stamp: &FileStamp, digest: &Digest);
}

/// The digest of a file.
pub(crate) fn digest_now(path: &Path, known: Option<&dyn FileDigests>) -> io::Result<Digest> {
    let stamp = FileStamp::of(&fs::metadata(path)?);
    digest_of(path, stamp, known)
}

/// The digest of a file that is as it was when it had this stamp.
pub(crate) fn digest_of(
    path: &Path,
    stamp: FileStamp,
    known: Option<&dyn FileDigests>,
) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let check = |file: &File| match FileStamp::of(&file.metadata()?) == stamp {
        true => Ok(()),
        false => Err(io::Error::other("it is not what it was before")),
    };
    check(&file)?;
    if let Some(digest) = known.and_then(|known| known.find(&stamp)) {
        return Ok(digest);
    }
    let mut hasher = Hasher::content();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    let digest = hasher.finish();
    check(&file)?;
    if let Some(known) = known {
        known.keep(&stamp, &digest);
    }
    Ok(digest)
}

/// Digests in a folder that only its owner may write to: a small file for each.
#[derive(Debug)]
pub struct DigestFolder(PathBuf);

const ENTRY: Domain = Domain::new("artifact file digest v1");

/// A file that changed within so many seconds of being read may change again without another time of its change.
const SETTLED_SECONDS: i64 = 2;

/// Longest entry.
const ENTRY_BYTES: u64 = 512;

impl DigestFolder {
    /// Digests in a folder, which is made when the first of them is kept.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    fn path(&self, stamp: &FileStamp) -> PathBuf {
        let mut hasher = Hasher::in_domain(ENTRY);
        hasher.update(stamp.to_string().as_bytes());
        self.0.join(hasher.finish().to_string())
    }

    /// Whether the folder is this user's, and nobody else's to write to.
    fn is_own(&self) -> io::Result<bool> {
        let found = fs::symlink_metadata(&self.0)?;
        // This process's own folder there belongs to whom it acts for.
        let own = fs::metadata("/proc/self")?.uid();
        Ok(found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0)
    }

    fn read(&self, stamp: &FileStamp) -> io::Result<Option<Digest>> {
        if !self.is_own()? {
            return Ok(None);
        }
        let path = self.path(stamp);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Ok(None);
        }
        let mut text = String::new();
        let file = File::open(path)?;
        file.take(ENTRY_BYTES).read_to_string(&mut text)?;
        let digest = text.strip_suffix('\n').and_then(|text| text.rsplit_once(' '));
        let digest = digest.and_then(|(_, digest)| digest.parse().ok());
        Ok(digest.filter(|digest| entry(stamp, digest) == text))
    }

    fn write(&self, stamp: &FileStamp, digest: &Digest) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        if !self.is_own()? {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(entry(stamp, digest).as_bytes())?;
        let now = file.as_file().metadata()?.mtime();
        if stamp.changed.0.saturating_add(SETTLED_SECONDS) > now {
            return Ok(());
        }
        file.persist(self.path(stamp))?;
        Ok(())
    }
}

/// What an entry holds: the stamp, the digest, and a digest of both, by which damage is found.
fn entry(stamp: &FileStamp, digest: &Digest) -> String {
    let text = format!("{stamp} {digest}");
    let mut hasher = Hasher::in_domain(ENTRY);
    hasher.update(text.as_bytes());
    format!("{} {text}\n", hasher.finish())
}

impl FileDigests for DigestFolder {
    fn find(&self, stamp: &FileStamp) -> Option<Digest> {
        self.read(stamp).ok().flatten()
    }

    fn keep(&self, stamp: &FileStamp, digest: &Digest) {
        // It saves time and nothing else.
        let _ = self.write(stamp, digest);
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "nobody else reads these files meanwhile"
)]
mod tests {
    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    fn is_known(path: &Path, folder: &DigestFolder) -> bool {
        let stamp = FileStamp::of(&fs::metadata(path).unwrap());
        folder.find(&stamp).is_some()
    }

    /// A stamp that is older than the folder's clock says.
    fn settled(path: &Path) -> FileStamp {
        let mut stamp = FileStamp::of(&fs::metadata(path).unwrap());
        stamp.changed.0 -= 10;
        stamp
    }

    #[test]
    fn what_is_kept_is_found_and_damage_is_not() {
        let home = tempfile::tempdir().unwrap();
        let folder = DigestFolder::new(home.path().join("new/digests"));
        let path = home.path().join("plugin.so");
        fs::write(&path, b"code").unwrap();
        let now = FileStamp::of(&fs::metadata(&path).unwrap());
        let digest = digest_of(&path, now, Some(&folder)).unwrap();
        assert_eq!(digest, Digest::of(b"code"));
        // It may change again within the same tick of the clock.
        assert!(!is_known(&path, &folder));
        let stamp = settled(&path);
        folder.keep(&stamp, &digest);
        assert_eq!(folder.find(&stamp), Some(digest));
        let entry = folder.path(&stamp);
        let whole = fs::read(&entry).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&entry, &damaged).unwrap();
            assert_eq!(folder.find(&stamp), None, "byte {at}");
            fs::write(&entry, &whole[..at]).unwrap();
            assert_eq!(folder.find(&stamp), None, "its first {at} bytes");
        }
        fs::write(&entry, &whole).unwrap();
        assert_eq!(folder.find(&stamp), Some(digest));
        // Nobody else may write there.
        let mode = |mode| fs::set_permissions(&folder.0, Permissions::from_mode(mode)).unwrap();
        mode(0o770);
        assert_eq!(folder.find(&stamp), None);
        mode(0o700);
        assert_eq!(folder.find(&stamp), Some(digest));
    }

    #[test]
    fn a_file_that_changed_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("plugin.so");
        fs::write(&path, b"code").unwrap();
        let before = FileStamp::of(&fs::metadata(&path).unwrap());
        // The same size and the same time of writing, put back on purpose.
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&path, b"edoc").unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(written).unwrap();
        let after = FileStamp::of(&fs::metadata(&path).unwrap());
        assert_ne!(before, after);
        assert!(digest_of(&path, before, None).is_err());
        assert_eq!(digest_of(&path, after, None).unwrap(), Digest::of(b"edoc"));
    }
}
