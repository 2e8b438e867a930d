//! The text: seeded short stories about a snail and its friends.
//!
//! A story is a plot ([`plots`]) told with a cast, places and things drawn at random: an opening that names the
//! hero, the beats of the plot with sentences about the garden between them, a moral, a last picture, "The end."
//! Story `i` of a seed depends on nothing but the seed and `i`, so that no text needs to be stored.

pub mod plots;
mod plots_a;
mod plots_b;
pub mod template;
pub mod words;

use crate::rng::Rng;
use plots::{Mood, Plot, Theme};
use template::{Character, Scene, TemplateError, polish};
use words::{FOODS, FRIENDS, HEROES, KINDS, LOOKS, MANNERS, PLACES, THINGS};

/// Least and most words of a story, the prompt not counted.
pub const WORDS: std::ops::RangeInclusive<usize> = 60..=130;

/// Which part of the combinations of plot, hero and theme a story may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// 15 of 16 combinations.
    Train,
    /// The other sixteenth, never seen in training.
    HeldOut,
}

/// A finished story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// "Tell me about …" or empty.
    pub prompt: String,
    /// From the first sentence to "The end."
    pub text: String,
    /// The hero's name.
    pub hero: &'static str,
    /// Number of the plot.
    pub plot: usize,
    /// Whether this combination is held out.
    pub held_out: bool,
}

impl Story {
    /// Prompt and text in one line.
    pub fn line(&self) -> String {
        if self.prompt.is_empty() { self.text.clone() } else { format!("{} {}", self.prompt, self.text) }
    }
}

/// The structure of the split: every pair (plot, hero), (plot, theme), (hero, theme) occurs in training, but one
/// sixteenth of the triples does not.
pub fn is_held_out(plot: usize, hero: usize, theme: usize) -> bool {
    (plot * 7 + hero * 5 + theme * 3) % 16 == 0
}

const OPENINGS: &[&str] = &[
    "once upon a time, there [lived|was] a {A} snail [named|called] {H} [in a <garden> garden|<by> the {P}|in a garden <by> the {P}].",
    "once upon a time, a {A} snail [named|called] {H} lived [in a <garden> garden|<by> the {P}|in a garden <by> the {P}].",
    "{H} was a {A} snail who lived [in a <garden> garden|<by> the {P}|<by> the {P} in a <garden> garden].",
    "[in a <garden> garden|<by> the {P}|<by> the {P} in a <garden> garden] lived a {A} snail [named|called] {H}.",
    "there was once a {A} snail [named|called] {H}, who lived [in a <garden> garden|<by> the {P}].",
    "this is the story of {H}, a {A} snail [from a <garden> garden|who lived <by> the {P}].",
    "far away, <by> the {P}, lived a {A} snail, and {H.p} name was {H}.",
];

const TRAITS: &[&str] = &[
    "{H.s} had a <shell> shell and [loved|liked] <pastime>.",
    "{H} had a <shell> shell and [loved|liked] <pastime>.",
    "{H.p} shell was <shell>, and {H.s} [loved|liked] <pastime>.",
    "[every day|most of all], {H} [loved|liked] <pastime>[ and <pastime>|].",
    "{H.s} was [slow|small], but {H.p} heart was [big|warm|brave|full of songs].",
];

const DAYS: [(&str, Mood); 3] = [
    (
        "[one <weather> <daytime>|on a <weather> <daytime>], {H} [<slid>|<slid> <slowly>] [<past> the {P}|to the {P}|from the <place> to the {P}|around the {P}].",
        Mood::Dry,
    ),
    (
        "[one [grey|rainy|dark|wet|stormy] <daytime>|on a [grey|rainy|dark|wet|stormy] <daytime>], {H} [<slid>|<slid> <slowly>] [<past> the {P}|to the {P}|from the <place> to the {P}].",
        Mood::Wet,
    ),
    (
        "[one [clear|warm|cool|still|quiet] night|on a [clear|warm|cool|still|quiet] night], {H} [lay|rested|slept] <by> the {P}[, under a [big|green|soft|round] leaf|].",
        Mood::Night,
    ),
];

const ENDINGS: &[&str] = &[
    "that night, {H} [slept|curled up] in {H.p} <shell> shell and dreamed of <dream>.",
    "in the [evening|end], {H} [went|<slid>] home [to|past] the {P} and [thought of|dreamed of] <dream>.",
    "from [then|that day] on, {H} and {F} [met|played|sang] <by> the <place> [every day|every week|each morning|in the evening].",
    "{H} and {F} [were|stayed|remained] [best |good |the best of |true ]friends [for ever|all year|always].",
    "[and|<soon>,] {H} [fell asleep|went to sleep|went home], [tired|full] [and|but] <happy>.",
    "{H} [looked at|smiled at|said good night to] the [stars|moon|<place>] and [felt|was] very <happy>.",
];

/// "Tell me about" openings that a typed prompt can use.
const ASKS: &[&str] = &["tell me about", "tell me about", "tell me a story about"];

fn draw(plot: &Plot, rng: &mut Rng) -> Option<(Scene, usize, usize)> {
    let hero = rng.below(HEROES.len());
    let (h, h_she) = *HEROES.get(hero)?;
    let kind = |want: Option<words::Gift>, not: &str, rng: &mut Rng| {
        let fit: Vec<_> = KINDS.iter().filter(|k| k.name != not && want.is_none_or(|g| g == k.gift)).collect();
        rng.pick(&fit).copied()
    };
    let f_kind = kind(plot.gifts[0], "", rng)?;
    let g_kind = kind(plot.gifts[1], f_kind.name, rng)?;
    let (f, f_she) = *rng.pick(&FRIENDS)?;
    let rest: Vec<_> = FRIENDS.iter().filter(|x| x.0 != f).collect();
    let (g, g_she) = **rng.pick(&rest)?;
    let start = rng.below(PLACES.len());
    let goal = (start + 1 + rng.below(PLACES.len() - 1)) % PLACES.len();
    let thing = rng.below(THINGS.len());
    let food = rng.below(FOODS.len());
    let theme = match plot.theme {
        Theme::Thing => thing,
        Theme::Food => food,
        Theme::Place => goal,
    };
    let scene = Scene {
        cast: [
            Character { name: h, she: h_she, kind: "snail", moved: &["crept", "slid"] },
            Character { name: f, she: f_she, kind: f_kind.name, moved: &f_kind.moved },
            Character { name: g, she: g_she, kind: g_kind.name, moved: &g_kind.moved },
        ],
        places: [PLACES.get(start)?, PLACES.get(goal)?],
        thing: [THINGS.get(thing)?, rng.pick(&LOOKS)?],
        food: FOODS.get(food)?,
        manner: rng.pick(&MANNERS)?,
        used: Vec::new(),
    };
    Some((scene, hero, theme))
}

fn one_of(scene: &mut Scene, rng: &mut Rng, templates: &[&str]) -> Result<String, TemplateError> {
    let template = rng.pick(templates).copied().unwrap_or("");
    scene.expand(template, rng)
}

fn tell(plot: &Plot, scene: &mut Scene, rng: &mut Rng) -> Result<(String, String), TemplateError> {
    let mut prompt = String::new();
    if rng.chance(0.4) {
        let ask = one_of(scene, rng, ASKS)?;
        let what = match rng.below(6) {
            0 => scene.expand("{H}", rng)?,
            1 => scene.expand("{H} the snail", rng)?,
            2 => scene.expand(
                "[a {A} snail|a snail [named|called] {H}|{H} and {F}|{H} and the {F.k}|a snail and a {F.k}]",
                rng,
            )?,
            _ => one_of(scene, rng, plot.topics)?,
        };
        prompt = polish(&format!("{ask} {what}."));
    }
    let between = match plot.mood {
        Mood::Dry => "<dry>",
        Mood::Wet => "<wet>",
        Mood::Night => "<night>",
    };
    let mut parts = vec![one_of(scene, rng, OPENINGS)?];
    if rng.chance(0.4) {
        parts.push(one_of(scene, rng, TRAITS)?);
    }
    let day = DAYS.iter().find(|d| d.1 == plot.mood).map_or("", |d| d.0);
    parts.push(scene.expand(day, rng)?);
    for (percent, templates) in plot.beats {
        let told = if *percent < 100 { usize::from(*percent) * 3 / 4 } else { 100 };
        if rng.below(100) < told {
            parts.push(one_of(scene, rng, templates)?);
            if rng.chance(0.2) {
                parts.push(scene.expand(between, rng)?);
            }
        }
    }
    if rng.chance(0.5) {
        parts.push(one_of(scene, rng, plot.morals)?);
    }
    parts.push(one_of(scene, rng, ENDINGS)?);
    parts.push("the end.".to_owned());
    Ok((prompt, polish(&parts.join(" "))))
}

/// Story number `index` of `seed`, from the combinations of `split`.
///
/// # Errors
/// [`TemplateError`] when the grammar itself is wrong.
pub fn story(seed: u64, split: Split, index: u64) -> Result<Story, TemplateError> {
    let stream = index * 2 + u64::from(split == Split::HeldOut);
    let mut rng = Rng::new(seed, stream);
    loop {
        let number = rng.below(plots::COUNT);
        let plot = plots::plot(number);
        let Some((mut scene, hero, theme)) = draw(plot, &mut rng) else { continue };
        let held_out = is_held_out(number, hero, theme);
        if held_out != (split == Split::HeldOut) {
            continue;
        }
        let (prompt, text) = tell(plot, &mut scene, &mut rng)?;
        if WORDS.contains(&text.split(' ').count()) {
            return Ok(Story { prompt, text, hero: scene.cast[0].name, plot: number, held_out });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_story_depends_on_seed_and_number_alone() {
        assert_eq!(story(5, Split::Train, 17), story(5, Split::Train, 17));
        assert_ne!(story(5, Split::Train, 17), story(6, Split::Train, 17));
        let different: HashSet<String> = (0..500).map(|i| story(5, Split::Train, i).unwrap().text).collect();
        assert_eq!(different.len(), 500);
    }

    #[test]
    fn stories_are_plain_sentences_of_the_right_length() {
        for i in 0..1500 {
            let s = story(8, Split::Train, i).unwrap();
            let line = s.line();
            assert!(line.bytes().all(|b| b == b' ' || b.is_ascii_alphabetic() || b",.!?\"'".contains(&b)), "{line}");
            assert!(WORDS.contains(&s.text.split(' ').count()));
            assert!(s.text.ends_with(" The end.") && s.text.starts_with(|c: char| c.is_ascii_uppercase()));
            assert!(s.text.contains(s.hero), "{line}");
            for wrong in ["  ", " .", " ,", "..", ",.", " a a", " a e", " a i", " a o", " an b", "the the", "!.", "?."]
            {
                assert!(!line.contains(wrong), "{wrong:?} in {line}");
            }
            assert_eq!(line.matches('"').count() % 2, 0, "{line}");
        }
    }

    /// Expands every template of the grammar often enough to meet its rarest choices.
    #[test]
    fn every_template_expands() {
        let mut rng = Rng::new(1, 1);
        for number in 0..plots::COUNT {
            let plot = plots::plot(number);
            let (scene, ..) = draw(plot, &mut rng).unwrap();
            let of_plot = plot.beats.iter().flat_map(|b| b.1).chain(plot.topics).chain(plot.morals);
            let days: Vec<&str> = DAYS.iter().map(|d| d.0).collect();
            let shared = OPENINGS.iter().chain(TRAITS).chain(ENDINGS).chain(&days);
            let lists = words::LISTS.iter().flat_map(|l| l.1);
            for template in of_plot.chain(shared).chain(lists) {
                for _ in 0..40 {
                    let text = scene.clone().expand(template, &mut rng).unwrap();
                    assert!(!text.contains(['[', ']', '<', '>', '{', '}', '(', ')', '|']), "{template} gave {text}");
                }
            }
        }
    }

    #[test]
    fn the_split_leaves_every_pair_in_training() {
        let (mut pairs, mut held_out) = ([HashSet::new(), HashSet::new(), HashSet::new()], 0);
        for plot in 0..plots::COUNT {
            for hero in 0..HEROES.len() {
                for theme in 0..THINGS.len() {
                    if is_held_out(plot, hero, theme) {
                        held_out += 1;
                        continue;
                    }
                    pairs[0].insert((plot, hero));
                    pairs[1].insert((plot, theme));
                    pairs[2].insert((hero, theme));
                }
            }
        }
        assert_eq!(held_out * 16, plots::COUNT * HEROES.len() * THINGS.len());
        assert_eq!(pairs.map(|p| p.len()), [plots::COUNT * 24, plots::COUNT * 16, 24 * 16]);
        for i in 0..200 {
            assert!(story(2, Split::HeldOut, i).unwrap().held_out && !story(2, Split::Train, i).unwrap().held_out);
        }
    }
}
