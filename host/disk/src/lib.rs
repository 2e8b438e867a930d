//! D81 and FAT32 card images
