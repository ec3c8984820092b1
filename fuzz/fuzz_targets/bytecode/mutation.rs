//! Changes of a file of bytecode that leave its frame whole.

use crate::file::{Cursor, Entry, File, Group, Token, append_varint};
use crate::random::Random;

/// The file with a few changes; nothing where it is too damaged to be taken apart.
pub fn mutate(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut file = File::parse(bytes)?;
    for _ in 0..=random.below(3) {
        change(&mut file, random);
    }
    Some(file.bytes())
}

fn change(file: &mut File, random: &mut Random) {
    match random.below(16) {
        0 => file.version = [0, 1, 3, 4, 6, random.near(file.version)][random.below(6)],
        1 => producer(file, random),
        2 => change_numbers(&mut file.dialects, random),
        3 | 4 => change_one_of(&mut file.strings, random, change_text),
        5..=7 => change_groups(&mut file.attributes, random),
        8 | 9 => change_groups(&mut file.types, random),
        10..=12 => change_one_of(&mut file.properties, random, change_numbers),
        _ => change_tokens(&mut file.operations, random),
    }
}

fn producer(file: &mut File, random: &mut Random) {
    let (major, minor) = [(0, 9 + random.below(12)), (1, random.below(22))][random.below(2)];
    file.producer = format!("StableHLO_v{major}.{minor}.0").into_bytes();
}

/// Changes an item, or the list: repeats one, exchanges two, takes one out.
fn change_one_of<T: Clone>(items: &mut Vec<T>, random: &mut Random, change: impl Fn(&mut T, &mut Random)) {
    if items.is_empty() {
        return;
    }
    let (one, other) = (random.below(items.len()), random.below(items.len()));
    match random.below(8) {
        0 => items.insert(one, items[other].clone()),
        1 => items.swap(one, other),
        2 => drop(items.remove(one)),
        3 => items[one] = items[other].clone(),
        _ => change(&mut items[one], random),
    }
}

fn change_groups(groups: &mut Vec<Group>, random: &mut Random) {
    change_one_of(groups, random, |group, random| match random.below(12) {
        0 => group.dialect = random.near(group.dialect),
        _ => change_one_of(&mut group.entries, random, change_entry),
    });
}

fn change_entry(entry: &mut Entry, random: &mut Random) {
    match random.below(16) {
        0 => entry.binary = !entry.binary,
        1 => change_text(&mut entry.bytes, random),
        _ if entry.binary => change_numbers(&mut entry.bytes, random),
        _ => change_text(&mut entry.bytes, random),
    }
}

/// Bytes as they are.
fn change_text(bytes: &mut Vec<u8>, random: &mut Random) {
    let value = random.next() as u8;
    change_one_of(bytes, random, |byte, random| {
        *byte = [value, *byte ^ 1 << random.below(8), b'0', b'"', 0xFF][random.below(5)];
    });
}

/// Bytes as numbers one after another, with whatever is left at the end.
fn change_numbers(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut cursor = Cursor(bytes);
    let mut numbers = Vec::new();
    while let Some(number) = cursor.varint() {
        numbers.push(number);
    }
    let rest = cursor.0.to_vec();
    change_one_of(&mut numbers, random, |number, random| *number = random.near(*number));
    bytes.clear();
    for number in numbers {
        append_varint(bytes, number);
    }
    bytes.extend_from_slice(&rest);
}

/// A piece somewhere in the operations, or a run of them somewhere else.
fn change_tokens(tokens: &mut Vec<Token>, random: &mut Random) {
    let sections: Vec<usize> = (0..tokens.len())
        .filter(|index| matches!(tokens[*index], Token::Section(_)))
        .collect();
    if !sections.is_empty() && random.below(8) != 0 {
        let chosen = sections[random.below(sections.len())];
        if let Token::Section(inner) = &mut tokens[chosen] {
            return change_tokens(inner, random);
        }
    }
    if random.below(6) == 0 && !tokens.is_empty() {
        let start = random.below(tokens.len());
        let run = tokens[start..tokens.len().min(start + 1 + random.below(12))].to_vec();
        let place = random.below(tokens.len());
        tokens.splice(place..place, run);
        return;
    }
    change_one_of(tokens, random, |token, random| match token {
        Token::Byte(byte) => *byte ^= 1 << random.below(8),
        Token::Number(number) => *number = random.near(*number),
        Token::Section(inner) => change_tokens(inner, random),
    });
}
