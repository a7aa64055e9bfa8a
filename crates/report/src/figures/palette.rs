//! Colours by what they mean. The light one stands in the picture itself, so that every program shows
//! it; a style sheet replaces it where the reader prefers a dark page.

use plotters::style::RGBColor;

/// How many shades a scale of colour has.
pub(super) const SHADES: u8 = 7;

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The background.
    Paper,
    /// Text and what must be seen.
    Ink,
    /// Text that explains.
    Muted,
    /// Lines of a grid.
    Grid,
    /// What chance does, what stays, what is out of question.
    Quiet,
    /// Blue of Okabe and Ito, whose colours colour-blind readers can tell apart.
    Good,
    /// Their vermilion.
    Bad,
    /// Their reddish purple.
    Third,
    /// Their bluish green.
    Fourth,
    /// Violet. It and brown are not of theirs: their other colours are too light for lines on a light page.
    Fifth,
    /// Brown.
    Sixth,
    /// Text on the darker half of a scale (on a dark page the brighter half).
    OnStrong,
    /// Text on the other half.
    OnWeak,
    /// Text on the shade between them, dark on both pages.
    OnMiddle,
    /// A shade of blue, from 0, the least.
    Shade(u8),
    /// A shade of green, from 0, the least.
    OtherShade(u8),
}

impl Role {
    /// The colours of lines, of which no two look alike to readers with a weakness for red or green.
    pub(super) const LINES: [Self; 7] =
        [Self::Good, Self::Bad, Self::Fourth, Self::Third, Self::Ink, Self::Fifth, Self::Sixth];

    /// The text that can be read on a shade.
    pub(super) const fn on_shade(shade: u8) -> Self {
        match shade {
            0..=2 => Self::OnWeak,
            3 => Self::OnMiddle,
            _ => Self::OnStrong,
        }
    }

    /// Every role.
    fn all() -> impl Iterator<Item = Self> {
        use Role::{
            Bad, Fifth, Fourth, Good, Grid, Ink, Muted, OnMiddle, OnStrong, OnWeak, Paper, Quiet, Sixth, Third,
        };
        [Paper, Ink, Muted, Grid, Quiet, Good, Bad, Third, Fourth, Fifth, Sixth, OnStrong, OnMiddle, OnWeak]
            .into_iter()
            .chain((0..SHADES).map(Self::Shade))
            .chain((0..SHADES).map(Self::OtherShade))
    }

    /// Red, green and blue on a light and on a dark page. No two light ones are the same: the style sheet
    /// finds the role by them.
    const fn rgb(self) -> ([u8; 3], [u8; 3]) {
        match self {
            Self::Paper => ([255, 255, 255], [20, 22, 26]),
            Self::Ink => ([17, 17, 17], [238, 238, 238]),
            Self::Muted => ([84, 84, 84], [184, 188, 194]),
            Self::Grid => ([221, 221, 221], [58, 62, 68]),
            Self::Quiet => ([208, 208, 208], [88, 92, 98]),
            Self::Good => ([0, 114, 178], [86, 180, 233]),
            Self::Bad => ([213, 94, 0], [255, 140, 66]),
            Self::Third => ([170, 68, 127], [221, 142, 187]),
            Self::Fourth => ([0, 127, 93], [64, 201, 162]),
            Self::Fifth => ([124, 58, 237], [150, 110, 255]),
            Self::Sixth => ([110, 60, 20], [160, 122, 62]),
            Self::OnStrong => ([254, 254, 254], [16, 16, 16]),
            Self::OnWeak => ([18, 18, 18], [240, 240, 240]),
            Self::OnMiddle => ([8, 8, 8], [15, 15, 15]),
            Self::Shade(shade) => {
                (between([214, 232, 245], [0, 62, 108], shade), between([30, 58, 84], [164, 216, 255], shade))
            }
            Self::OtherShade(shade) => {
                (between([212, 240, 230], [0, 64, 44], shade), between([14, 50, 38], [140, 236, 198], shade))
            }
        }
    }

    pub(super) const fn colour(self) -> RGBColor {
        let [red, green, blue] = self.rgb().0;
        RGBColor(red, green, blue)
    }
}

/// The colour at a shade between the least and the most.
const fn between(least: [u8; 3], most: [u8; 3], shade: u8) -> [u8; 3] {
    let mut colour = [0; 3];
    let (shade, last) = (if shade < SHADES { shade as u16 } else { SHADES as u16 - 1 }, SHADES as u16 - 1);
    let mut channel = 0;
    while channel < 3 {
        let mixed = (least[channel] as u16 * (last - shade) + most[channel] as u16 * shade + last / 2) / last;
        // A mean of two bytes is one.
        colour[channel] = mixed.to_le_bytes()[0];
        channel += 1;
    }
    colour
}

/// The style sheet. It speaks of pictures of this class alone, since it may stand in a page with others.
pub(crate) fn style_sheet() -> String {
    let hex = |[red, green, blue]: [u8; 3]| format!("#{red:02X}{green:02X}{blue:02X}");
    let mut sheet = ".shardlab-figure{max-width:100%;height:auto}\n@media (prefers-color-scheme:dark){\n".to_owned();
    for role in Role::all() {
        let (light, dark) = role.rgb();
        let (light, dark) = (hex(light), hex(dark));
        sheet.push_str(&format!(
            ".shardlab-figure [fill=\"{light}\"]{{fill:{dark}}}\n.shardlab-figure [stroke=\"{light}\"]{{stroke:{dark}}}\n"
        ));
    }
    sheet.push_str("}\n");
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Luminance as the Web Content Accessibility Guidelines define it.
    fn luminance(colour: [u8; 3]) -> f64 {
        let linear = colour.map(|channel| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.039_28 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn no_two_roles_share_a_light_colour() {
        let mut light: Vec<[u8; 3]> = Role::all().map(|role| role.rgb().0).collect();
        let all = light.len();
        light.sort_unstable();
        light.dedup();
        assert_eq!(light.len(), all);
    }

    #[test]
    fn every_text_can_be_read_on_both_pages() {
        let (paper, dark_paper) = Role::Paper.rgb();
        for role in [Role::Ink, Role::Muted] {
            let (light, dark) = role.rgb();
            assert!(contrast(light, paper) >= 4.5 && contrast(dark, dark_paper) >= 4.5, "{role:?}");
        }
        for role in Role::LINES {
            let (light, dark) = role.rgb();
            assert!(contrast(light, paper) >= 3.0 && contrast(dark, dark_paper) >= 3.0, "{role:?}");
        }
        for shade in 0..SHADES {
            for role in [Role::Shade(shade), Role::OtherShade(shade)] {
                let ((light, dark), (on_light, on_dark)) = (role.rgb(), Role::on_shade(shade).rgb());
                let found = (contrast(light, on_light), contrast(dark, on_dark));
                assert!(found.0 >= 4.5 && found.1 >= 4.5, "{role:?}: {found:?}");
            }
        }
    }

    /// Where a colour lies in the space L*a*b* for eyes whose cones mix the linear channels so.
    fn seen(colour: [u8; 3], eyes: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = colour.map(|channel| (f64::from(channel) / 255.0).powf(2.2));
        let mixed = |row: [f64; 3]| row.iter().zip(linear).map(|(weight, part)| weight * part).sum::<f64>().max(0.0);
        let [red, green, blue] = eyes.map(mixed);
        let [x, y, z] = [
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0888,
        ]
        .map(|part| if part > 0.008_856 { part.cbrt() } else { 7.787 * part + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn lines_can_be_told_apart_by_readers_with_any_cones() {
        // Everybody; without red and without green cones as Machado, Oliveira and Fernandes simulate it (2009).
        let eyes = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
            [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
        ];
        for (at, one) in Role::LINES.iter().enumerate() {
            for other in &Role::LINES[at + 1..] {
                for eyes in eyes {
                    let ((one_light, one_dark), (other_light, other_dark)) = (one.rgb(), other.rgb());
                    for (a, b) in [(one_light, other_light), (one_dark, other_dark)] {
                        let (a, b) = (seen(a, eyes), seen(b, eyes));
                        let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        // A difference of about 2 is the least that anybody sees.
                        assert!(apart >= 12.0, "{one:?} and {other:?}: {apart:.1}");
                    }
                }
            }
        }
    }

    #[test]
    fn shades_go_one_way_on_both_pages() {
        for shade in 1..SHADES {
            for pair in
                [[Role::Shade(shade - 1), Role::Shade(shade)], [Role::OtherShade(shade - 1), Role::OtherShade(shade)]]
            {
                let [less, more] = pair.map(Role::rgb);
                assert!(luminance(more.0) < luminance(less.0) && luminance(more.1) > luminance(less.1));
            }
        }
    }
}
