//! The plots: each a chain of beats, a beat being a few templates of which one is told.
//!
//! A plot names what its story needs (two friends with the right gift, a thing, a food or a place as its theme) and
//! only speaks of what has happened: who holds the thing, who is where, whether the wish came true.

use super::words::Gift;

/// What the story is about; together with plot and hero it decides whether a story is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// The thing `O`.
    Thing,
    /// The food `C`.
    Food,
    /// The place `Q`.
    Place,
}

/// Weather and light, which choose the sentences between the beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Day without rain.
    Dry,
    /// Rain.
    Wet,
    /// Night.
    Night,
}

/// One step: told with probability `.0` percent, by one of the templates.
pub type Beat = (u8, &'static [&'static str]);

/// A plot.
#[derive(Debug)]
pub struct Plot {
    /// For the documentation and the tests.
    pub name: &'static str,
    /// What "Tell me about X." may name, apart from the hero.
    pub topics: &'static [&'static str],
    /// Gifts of F and G; `None` is any animal.
    pub gifts: [Option<Gift>; 2],
    /// What the plot turns on.
    pub theme: Theme,
    /// Weather and light.
    pub mood: Mood,
    /// The beats in order.
    pub beats: &'static [Beat],
    /// The last thought, before the ending that all plots share.
    pub morals: &'static [&'static str],
}

use super::plots_a::PLOTS_A;
use super::plots_b::PLOTS_B;

/// Number of plots.
pub const COUNT: usize = PLOTS_A.len() + PLOTS_B.len();

/// Plot number `i`, modulo the number of plots.
pub fn plot(i: usize) -> &'static Plot {
    let i = i % COUNT;
    if i < PLOTS_A.len() { &PLOTS_A[i] } else { &PLOTS_B[(i - PLOTS_A.len()) % PLOTS_B.len()] }
}

/// Shared beats.
pub mod shared {
    /// The hero goes from P to Q.
    pub const WALK: &[&str] = &[
        "[<soon>|So|And so] {H} <slid> [<slowly> |]<past> the <place> [and <past> the <place> |]to the {Q}.",
        "{H} <slid> [all the way |on and on |<slowly> |]to the {Q}, <past> the <place>[ and the <place>|].",
        "[It was a long way|The way was long|It was not far] to the {Q}, [but|and] {H} [sang|hummed|smiled|did not stop|counted the stones] all the way.",
        "[<past> the <place> and ||<soon>, ]<past> the <place> {H} <slid>, until {H.s} [came to|reached|saw] the {Q}.",
    ];
    /// The hero meets F.
    pub const MEET: &[&str] = &[
        "[<soon>, |]{H} met {F} the {F.k} <by> the <place>.",
        "<by> the <place>, {H} [met|saw|found] [a {F.k} named {F}|{F}, a [young|friendly|little|busy] {F.k}|{F} the {F.k}].",
        "[<soon> |]{F} the {F.k} {F.m} [out from <past> the <place>|over from the <place>|around the <place>].",
        "[a [friendly|little|busy|cheerful] {F.k} named {F}|{F} the {F.k}] was [resting|sitting|singing|playing|waiting] <by> the <place>.",
    ];
    /// The hero meets G.
    pub const MEET_G: &[&str] = &[
        "[<soon>, |]{H} met {G} the {G.k} <by> the <place>.",
        "<by> the <place>, {H} [met|saw] [a {G.k} named {G}|{G}, a [young|old|little|busy] {G.k}|{G} the {G.k}].",
        "[<soon> |]{G} the {G.k} {G.m} [over from|around] the <place>.",
    ];
    /// F asks what is wrong.
    pub const WHY: &[&str] = &[
        "(F: [<oh>, w|W]hy [are you so <sad>|do you look so <sad>|is your face so long], [<dear>|{H}]?)",
        "(F: [Is something wrong|What is the matter|What happened|Can I help you], [<dear>|{H}]?)",
        "(F: You look <sad>, {H}. [What is it|What happened|Tell me why|Can I help]?)",
        "{F} saw that {H} was <sad>. (F: [What is it|What is the matter|What happened|How can I help], <dear>?)",
    ];
    /// The hero thanks F.
    pub const THANKS: &[&str] = &[
        "(H: Thank you, [dear |kind |]{F}[! You are a [true|good|real|dear|kind] friend| so much]!)",
        "{H} thanked {F} [with a big smile|with all {H.p} heart|again and again|and gave {F.o} a leaf|three times].",
        "(H: [How kind you are|What would I do without you|You are so good to me|I will never forget this], {F}!)",
        "[{H} was so <happy> that {H.s} [danced|laughed|sang|hugged {F}].|{H} and {F} [danced|laughed|sang] [together|for joy|in the grass].]",
    ];
}
