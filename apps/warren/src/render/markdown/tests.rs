//! Markdown as it looks on a terminal.

use super::{Chunks, draw};
use crate::render::Paint;

#[track_caller]
fn check(text: &str, width: usize, expect: &str) {
    assert_eq!(draw(text, width, Paint::Plain), expect);
}

#[test]
fn lines_break_between_words() {
    check("A reviewer looked at all of it twice.", 20, "A reviewer looked at\nall of it twice.");
    check(
        "see https://example.com/a/very/long/address now",
        20,
        "see\nhttps://example.com/a/very/long/address\nnow",
    );
    check("日本語 の 文字 は 二つ の 幅 を とる", 20, "日本語 の 文字 は\n二つ の 幅 を とる");
    check("one  \ntwo\nthree", 20, "one\ntwo\nthree");
}

#[test]
fn blocks_stand_apart_and_lists_are_indented() {
    let text = "# Plan\nFirst:\n- read the **data**, all of it\n  1. by month\n  2. by `region`\n- draw\n\n> quoted words that are long enough\n\n---\nEnd";
    let expect = "Plan\n\nFirst:\n\n• read the data, all\n  of it\n  1. by month\n  2. by region\n• draw\n\n│ quoted words that\n│ are long enough\n\n────────────────────\n\nEnd";
    check(text, 20, expect);
    check("3. three\n4. four", 20, "3. three\n4. four");
    check("- [x] done\n- [ ] open", 20, "• [x] done\n• [ ] open");
}

#[test]
fn code_is_kept_as_it_is() {
    check(
        "Run:\n\n```sh\ncargo test --workspace --all-features\n\n  x\n```",
        20,
        "Run:\n\n  cargo test --workspace --all-features\n\n    x",
    );
}

#[test]
fn tables_fit_and_are_aligned() {
    let table = "| figure | value |\n|---|---:|\n| revenue | $1,999,418 |\n| orders | 19 |";
    check(table, 40, "figure        value\n───────  ──────────\nrevenue  $1,999,418\norders           19");
    let wide = "| a | b |\n|---|---|\n| x | some words that are too long for this |";
    check(wide, 24, "a  b\n─  ─────────────────────\nx  some words that are\n   too long for this");
}

#[test]
fn links_show_their_target_and_pictures_their_words() {
    check("[docs](https://d.test) and <https://e.test>", 60, "docs (https://d.test) and https://e.test");
    check("![a chart](c.png)", 60, "[image: a chart]");
}

#[test]
fn styles_are_escape_sequences_only_where_they_are_wanted() {
    assert_eq!(draw("**bold words** `x`", 40, Paint::Ansi), "\x1b[1mbold words\x1b[0m \x1b[36mx\x1b[0m");
    assert_eq!(draw("**bold words** `x`", 40, Paint::Plain), "bold words x");
}

/// The blocks of a text that comes in pieces of this many characters.
fn cut(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut chunks = Chunks::default();
    let mut blocks = Vec::new();
    for piece in characters.chunks(size) {
        blocks.extend(chunks.push(&piece.iter().collect::<String>()));
    }
    blocks.extend(chunks.finish());
    blocks
}

#[test]
fn text_is_cut_into_blocks_however_it_arrives() {
    let text = "# Title\nWords of\na paragraph.\n\n- one\n\n- two\n  more\n\n    code of two\n\nAfter\n```py\nx = 1\n\n# no heading\n```\nEnd ```inline``` end";
    let expect = [
        "# Title",
        "Words of\na paragraph.",
        "- one\n\n- two\n  more\n\n    code of two",
        "After",
        "```py\nx = 1\n\n# no heading\n```",
        "End ```inline``` end",
    ];
    for size in [1, 2, 7, 1000] {
        assert_eq!(cut(text, size), expect, "in pieces of {size}");
    }
    assert_eq!(cut("```\nnever closed", 3), ["```\nnever closed"]);
    assert_eq!(cut("\n\n  \n", 1), Vec::<String>::new());
}

#[test]
fn end_of_the_text_is_known_before_its_block_is_whole() {
    let mut chunks = Chunks::default();
    assert_eq!(chunks.push("First words"), Vec::<String>::new());
    assert_eq!(chunks.tail(), Some("First words"));
    assert_eq!(chunks.push(" and more\n\nNext"), ["First words and more"]);
    assert_eq!(chunks.tail(), Some("Next"));
}
