//! Positions and coordinates.

use artifact_sharding::Mesh;

#[test]
fn row_major() {
    let mesh = Mesh::new([("x", 2), ("y", 1), ("z", 3)]).unwrap();
    let grid = (0..2).flat_map(|x| (0..3).map(move |z| vec![x, 0, z]));
    for (position, coordinates) in (0..6).zip(grid) {
        assert_eq!(mesh.position(&coordinates), Some(position));
        assert_eq!(mesh.coordinates(position), Some(coordinates));
    }
    assert_eq!(mesh.coordinates(6), None);
    assert_eq!(mesh.coordinates(u64::MAX), None);
    assert_eq!(mesh.device(6), None);
    for outside in [
        &[2, 0, 0][..],
        &[0, 1, 0],
        &[0, 0, u64::MAX],
        &[0, 0],
        &[0, 0, 0, 0],
    ] {
        assert_eq!(mesh.position(outside), None, "{outside:?}");
    }
}

#[test]
fn without_axes() {
    let mesh = Mesh::new::<String>([]).unwrap();
    assert_eq!(mesh.device_count(), 1);
    assert_eq!(mesh.coordinates(0), Some(vec![]));
    assert_eq!(mesh.position(&[]), Some(0));
    assert_eq!(mesh.device(0), Some(0));
}
