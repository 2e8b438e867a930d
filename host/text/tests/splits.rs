//! The splitting rules over Unicode: chunks that a regular-expression engine (Oniguruma, through PyPI `tokenizers`
//! 0.23) gave for each rule's expression. 340,000 random texts gave the same chunks there and here; these are the
//! telling ones.

use proptest::prelude::*;
use ssnail_shared::tokenizer::Split;
use ssnail_text::chunks;

/// Stands between chunks; no text has it.
const BAR: char = '¦';

#[rustfmt::skip]
const CHUNKS: &[(Split, &[&str])] = &[
    (Split::Gpt2, &[
        "I¦'¦LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'¦T",
        "\n¦\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\t¦b¦ \t¦ c¦  ",
        "12345¦ 1½Ⅷ¦ x¦2024",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。¦한국어",
        "(¦foo¦_¦bar¦)¦ ->¦ {¦x¦};¦ a¦/¦b¦\n\n",
        "HTTPServer¦ iPhone¦'¦S¦ XML¦-¦RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}¦x¦\u{2028}¦\u{85}¦y",
        "\u{1}\u{200b}¦ a¦\u{7}¦b",
        "🚀🚀¦ ok¦👍🏽!¦\n",
    ]),
    (Split::Digits, &[
        "I¦'¦LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'¦T",
        "\n¦\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\t¦b¦ \t¦ c¦  ",
        "1¦2¦3¦4¦5¦ ¦1¦½¦Ⅷ¦ x¦2¦0¦2¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。¦한국어",
        "(¦foo¦_¦bar¦)¦ ->¦ {¦x¦};¦ a¦/¦b¦\n\n",
        "HTTPServer¦ iPhone¦'¦S¦ XML¦-¦RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦0¦0¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}¦x¦\u{2028}¦\u{85}¦y",
        "\u{1}\u{200b}¦ a¦\u{7}¦b",
        "🚀🚀¦ ok¦👍🏽!¦\n",
    ]),
    (Split::Llama3, &[
        "I¦'LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "123¦45¦ ¦1½Ⅷ¦ x¦202¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ iPhone¦'S¦ XML¦-RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
    (Split::Qwen2, &[
        "I¦'LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "1¦2¦3¦4¦5¦ ¦1¦½¦Ⅷ¦ x¦2¦0¦2¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ iPhone¦'S¦ XML¦-RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦0¦0¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
    (Split::Default, &[
        "I¦'¦LL¦ it¦'¦s¦ ¦'¦tis¦ ¦'¦ſx¦ don¦'¦T",
        "\n¦\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\t¦b¦ \t¦ c¦  ",
        "123¦45¦ ¦1½Ⅷ¦ x¦202¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。¦한국어",
        "(¦foo¦_¦bar¦)¦ ¦->¦ ¦{¦x¦};¦ a¦/¦b¦\n\n",
        "HTTPServer¦ iPhone¦'¦S¦ XML¦-¦RPC¦'¦s¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ ¦+¦ €¦3¦ ¦=¦ `¦x¦`¦|~",
        "\u{a0}¦\u{3000}¦x¦\u{2028}¦\u{85}¦y",
        "\u{1}\u{200b}¦ a¦\u{7}¦b",
        "🚀🚀¦ ok¦👍🏽¦!¦\n",
    ]),
    (Split::Falcon, &[
        "I¦'¦LL¦ it¦'¦s¦ ¦'¦tis¦ ¦'¦ſx¦ don¦'¦T",
        "\n¦\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\t¦b¦ \t¦ c¦  ",
        "123¦45¦ 1½Ⅷ¦ x¦202¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe¦\u{301}¦ \u{301}¦x",
        "日本語のテキスト¦。¦한국어",
        "(¦foo¦_¦bar¦)¦ ¦->¦ ¦{¦x¦};¦ a¦/¦b¦\n\n",
        "HTTPServer¦ iPhone¦'¦S¦ XML¦-¦RPC¦'¦s¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ ¦+¦ €¦3¦ ¦=¦ ¦`¦x¦`|~",
        "\u{a0}¦\u{3000}¦x¦\u{2028}¦\u{85}¦y",
        "\u{1}\u{200b}¦ a¦\u{7}¦b",
        "🚀🚀¦ ok¦👍🏽¦!¦\n",
    ]),
    (Split::Gpt4o, &[
        "I'LL¦ it's¦ '¦tis¦ '¦ſx¦ don'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "123¦45¦ ¦1½Ⅷ¦ x¦202¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe\u{301}¦ \u{301}x",
        "日本語のテキスト¦。한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ i¦Phone'S¦ XML¦-RPC's¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
    (Split::Tekken, &[
        "I¦'LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "1¦2¦3¦4¦5¦ ¦1¦½¦Ⅷ¦ x¦2¦0¦2¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe\u{301}¦ \u{301}x",
        "日本語のテキスト¦。한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ i¦Phone¦'S¦ XML¦-RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦0¦0¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
    (Split::Qwen35, &[
        "I¦'LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "1¦2¦3¦4¦5¦ ¦1¦½¦Ⅷ¦ x¦2¦0¦2¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe\u{301}¦ \u{301}x",
        "日本語のテキスト¦。한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ iPhone¦'S¦ XML¦-RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦0¦0¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
    (Split::DeepSeek3, &[
        "I¦'LL¦ it¦'s¦ '¦tis¦ '¦ſx¦ don¦'T",
        "\n\n¦the¦ ¦ cat¦\r\n \n¦ x",
        "a¦\t¦\tb¦ \t¦ c¦  ",
        "123¦45¦ ¦1½Ⅷ¦ x¦202¦4",
        "Straße¦ ÉCOLE¦ naïve¦ cafe\u{301}¦ \u{301}x",
        "日本語のテキスト¦。¦한국어",
        "(foo¦_bar¦)¦ ->¦ {¦x¦};¦ a¦/b¦\n\n",
        "HTTPServer¦ iPhone¦'S¦ XML¦-RPC¦'s¦ ǅungla¦ ʰa",
        "$¦5¦.¦00¦ +¦ €¦3¦ =¦ `¦x¦`|~",
        "\u{a0}¦\u{3000}x¦\u{2028}¦\u{85}y",
        "\u{1}\u{200b}¦ a¦\u{7}b",
        "🚀🚀¦ ok¦👍🏽!\n",
    ]),
];

#[test]
fn chunks_are_those_of_the_regular_expressions() {
    for (split, texts) in CHUNKS {
        for marked in *texts {
            let text: String = marked.chars().filter(|&c| c != BAR).collect();
            let wanted: Vec<&str> = marked.split(BAR).collect();
            assert_eq!(chunks(*split, &text), wanted, "{split:?} {text:?}");
        }
    }
}

proptest! {
    #[test]
    fn chunks_cover_the_text_and_none_is_empty(
        number in 0..11u16,
        text in "(\\PC|[ -~]| {1,9}|[\\n\\r\\t ]|'[a-zA-Z]{1,2}|[0-9]){0,40}",
    ) {
        let split = Split::from_u16(number);
        prop_assert!(split.is_some());
        let chunks = chunks(split.unwrap_or(Split::Gpt2), &text);
        prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
        prop_assert_eq!(chunks.concat(), text);
    }
}

#[test]
fn runs_of_spaces_of_every_length_leave_one_for_the_word() {
    for n in 1..=60 {
        let text = format!("x{}y", " ".repeat(n));
        for split in [Split::Reference, Split::Gpt2, Split::Llama3, Split::Qwen2, Split::Gpt4o] {
            let chunks = chunks(split, &text);
            let wanted: &[&str] = if n == 1 { &["x", " y"] } else { &["x", &text[1..n], " y"] };
            assert_eq!(chunks, wanted, "{split:?} {n}");
        }
    }
}
