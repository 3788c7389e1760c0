//! What is read of an index, and that nothing an agent writes into one costs more than it.

use proptest::prelude::*;

use super::*;

const ID_SIZE: usize = 20;

fn header(version: u32, count: usize) -> Vec<u8> {
    let count = u32::try_from(count).unwrap();
    [&b"DIRC"[..], &version.to_be_bytes(), &count.to_be_bytes()].concat()
}

fn extension(name: &[u8], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    [name, &length.to_be_bytes(), data].concat()
}

/// An index of some paths, as git writes it but for the times and the hash at its end.
fn index(version: u32, paths: &[&[u8]], extensions: &[u8]) -> Vec<u8> {
    let mut bytes = header(version, paths.len());
    let mut before: &[u8] = b"";
    for path in paths {
        let mut entry = vec![0; 24];
        entry.extend(REGULAR.to_be_bytes());
        entry.extend([0; 12]);
        entry.extend([7; ID_SIZE]);
        entry.extend(u16::try_from(path.len().min(0xfff)).unwrap().to_be_bytes());
        if version == 4 {
            let pairs = before.iter().zip(*path);
            let common = pairs.take_while(|(old, new)| old == new).count();
            let mut gone = before.len() - common;
            // Seven bits a byte, each but the last with one less than is meant.
            let mut distance = vec![u8::try_from(gone & 127).unwrap()];
            while gone > 127 {
                gone = (gone >> 7) - 1;
                distance.insert(0, u8::try_from(gone & 127).unwrap() | 128);
            }
            entry.extend(distance);
            entry.extend(&path[common..]);
            entry.push(0);
        } else {
            entry.extend(*path);
            entry.extend(vec![0; 8 - entry.len() % 8]);
        }
        bytes.extend(entry);
        before = path;
    }
    bytes.extend(extensions);
    bytes.extend([0; ID_SIZE]);
    bytes
}

/// The extension of half an index, where these words are the bitmap of what is deleted.
fn link(size: u32, words: &[u64]) -> Vec<u8> {
    let mut data = vec![9; ID_SIZE];
    data.extend(size.to_be_bytes());
    data.extend(u32::try_from(words.len()).unwrap().to_be_bytes());
    data.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    data.extend([0; 4]);
    extension(b"link", &data)
}

fn paths(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let index = Index::parse(bytes, ID_SIZE)?;
    let paths = index.entries.into_iter().map(|entry| entry.path.into());
    Some(paths.collect())
}

#[test]
fn paths_of_any_length_are_read_in_every_version() {
    let long = [b"a/".repeat(300), b"z".to_vec()].concat();
    let longer = b"b".repeat(5_000);
    let expected: [&[u8]; 4] = [b"a", &long, &longer, b"c"];
    for version in 2..=4 {
        assert_eq!(paths(&index(version, &expected, b"")).unwrap(), expected);
    }
    assert_eq!(paths(&index(5, &expected, b"")), None);
}

#[test]
fn an_index_that_asks_for_much_more_memory_than_it_has_bytes_is_refused() {
    let path = b"a".repeat(4_000);
    let longer: Vec<_> = (0..1_000)
        .map(|n| [&path[..], &[b'b'; 9][..n % 9]].concat())
        .collect();
    let longer: Vec<&[u8]> = longer.iter().map(Vec::as_slice).collect();
    assert_eq!(paths(&index(4, &longer, b"")), None);
    assert!(paths(&index(2, &longer, b"")).is_some());
    let forged = [header(2, 4_000_000_000), vec![0; 200]].concat();
    assert_eq!(paths(&forged), None);
}

#[test]
fn deleted_entries_are_those_of_the_bitmap_and_no_more_than_it_says_to_have() {
    // Two equal words of ones, then one word with two bits.
    let marker = 1 | 2 << 1 | 1 << 33;
    let deleted = |size, words: &[u64]| {
        let bytes = index(2, &[b"a"], &link(size, words));
        let deleted = Index::parse(&bytes, ID_SIZE)?.shared?.deleted;
        Some(deleted.len())
    };
    assert_eq!(deleted(192, &[marker, 0b101]), Some(130));
    assert_eq!(deleted(100, &[1 | 2 << 1]), Some(100));
    let many = [vec![10_000 << 33], vec![u64::MAX; 10_000]].concat();
    assert_eq!(deleted(64, &many), None);
    assert_eq!(deleted(u32::MAX, &[1 | 0xffff_ffff << 1]), None);
}

#[test]
fn a_sparse_index_is_read_for_what_it_is() {
    let bytes = index(2, &[b"a", b"folder/"], &extension(b"sdir", b""));
    assert_eq!(paths(&bytes), None);
    assert!(Index::parse_any(&bytes, ID_SIZE).unwrap().is_sparse);
}

#[test]
fn the_tree_is_that_of_the_first_record_however_deep_the_others_are() {
    let record = |counts: &[u8], id: &[u8]| [b"\0", counts, b"\n", id].concat();
    let tree = |data: &[u8]| {
        let bytes = index(2, &[b"a"], &extension(b"TREE", data));
        Index::parse(&bytes, ID_SIZE).unwrap().tree
    };
    let deep = b"a\0-1 1\n".repeat(300_000);
    let valid = [record(b"1 1", &[5; ID_SIZE]), deep].concat();
    assert_eq!(tree(&valid), RawId::of(&[5; ID_SIZE]));
    assert_eq!(tree(&record(b"-1 0", &[5; ID_SIZE])), None);
    assert_eq!(tree(&record(b"1 0", &[5; 3])), None);
}

/// What somebody may do to the bytes of an index.
#[derive(Debug, Clone)]
enum Harm {
    Set(usize, u8),
    Cut(usize),
    Repeat(usize, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let byte = prop_oneof![Just(0), Just(0xff), Just(0x80), Just(0x40), any::<u8>()];
    prop_oneof![
        6 => (0..2_000_usize, byte).prop_map(|(at, byte)| Harm::Set(at, byte)),
        1 => (0..2_000_usize).prop_map(Harm::Cut),
        1 => (0..2_000_usize, 0..200_usize).prop_map(|(at, count)| Harm::Repeat(at, count)),
    ]
}

proptest! {
    #[test]
    fn whatever_is_done_to_an_index_it_costs_no_more_than_its_size(
        version in 2_u32..=4,
        names in prop::collection::btree_set("[a-c/]{1,30}", 0..12),
        harms in prop::collection::vec(harm(), 0..12),
    ) {
        let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let extensions = [
            extension(b"TREE", b"\x003 1\n01234567890123456789a\x00-1 0\n"),
            link(64, &[1 << 33, 5]),
        ];
        let mut bytes = index(version, &names, &extensions.concat());
        for harm in harms {
            let end = bytes.len();
            match harm {
                Harm::Set(at, byte) => bytes[at % end.max(1)..].iter_mut().take(1).for_each(|at| *at = byte),
                Harm::Cut(at) => bytes.truncate(at % (end + 1)),
                Harm::Repeat(at, count) => {
                    let part = bytes[at % (end + 1)..].iter().take(count).copied().collect::<Vec<_>>();
                    bytes.extend(part);
                }
            }
        }
        for id_size in [20, 32] {
            if let Some(index) = Index::parse_any(&bytes, id_size) {
                let spread: usize = index.entries.iter().map(|entry| entry.path.len()).sum();
                prop_assert!(spread <= MOST_SPREAD * bytes.len());
                prop_assert!(index.entries.len() * 62 <= bytes.len());
                let deleted = index.shared.map_or(0, |shared| shared.deleted.len());
                prop_assert!(deleted <= MOST_BITS);
            }
        }
    }
}
