//! Tile routines of the CPU engine: functions over a small rectangle of elements.
