//! A figure as PNG, for what takes no SVG. In: a figure that stands alone. Out: its pixels, two for each unit, on its light background. The font lies in the
//! binary: it looks the same everywhere. Refuses a figure that is too large for pixels.

use std::sync::Arc;

use kiln_core::Fault;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Pixels for each unit: sharp on a screen of today.
const SCALE: f32 = 2.0;
/// Pixels along a side at most.
const MOST: f32 = 16_000.0;
/// The name of the font.
const FONT: &str = "DejaVu Sans";

/// The pixels of a figure.
pub fn png(svg: &str) -> Result<Vec<u8>, Fault> {
    let fault = |why: String| Fault::new("drawing a figure as PNG", why).hint("write it as .svg instead");
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family(FONT);
    let options = Options { font_family: FONT.into(), fontdb: Arc::new(fonts), ..Options::default() };
    // Pixels have one background.
    let tree = Tree::from_str(&light(svg), &options).map_err(|error| fault(error.to_string()))?;
    let (width, height) = (SCALE * tree.size().width(), SCALE * tree.size().height());
    let fits = (1.0..=MOST).contains(&width) && (1.0..=MOST).contains(&height);
    let pixels = fits.then(|| Pixmap::new(width.ceil() as u32, height.ceil() as u32)).flatten();
    let mut pixels = pixels.ok_or_else(|| fault(format!("{width} x {height} pixels are too many")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    Ok(signed(pixels.encode_png().map_err(|error| fault(error.to_string()))?))
}

/// Where the first chunk of a PNG, which every one has, ends.
const HEAD: usize = 33;
/// The chunk that says who drew it.
const SIGNATURE: &[u8] = b"tEXtSoftware\0kiln";
/// How figures of kiln begin that are no pixels.
const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\"";

/// Whether a file holds a figure that kiln drew.
pub fn is_figure(content: &[u8]) -> bool {
    content.starts_with(SVG) || content.get(HEAD + 4..).is_some_and(|rest| rest.starts_with(SIGNATURE))
}

/// A PNG with the chunk that says who drew it.
fn signed(png: Vec<u8>) -> Vec<u8> {
    if png.len() < HEAD {
        return png;
    }
    let length = (SIGNATURE.len() - 4) as u32;
    let chunk = [&length.to_be_bytes()[..], SIGNATURE, &checksum(SIGNATURE).to_be_bytes()].concat();
    [&png[..HEAD], &chunk, &png[HEAD..]].concat()
}

/// The checksum that chunks of a PNG have: CRC-32.
fn checksum(bytes: &[u8]) -> u32 {
    let byte = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    };
    !bytes.iter().fold(!0, byte)
}

/// The figure without its colours for dark backgrounds, which lie in a block of their own at the end of its style.
fn light(svg: &str) -> String {
    match (svg.find("@media"), svg.find("</style>")) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &svg[..from], &svg[to..]),
        _ => svg.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Canvas;
    use crate::picture::canvas::Anchor;

    fn decoded(png: &[u8]) -> Pixmap {
        Pixmap::decode_png(png).unwrap()
    }

    #[test]
    fn text_and_marks_are_drawn_on_a_light_background() {
        let blank = Canvas::new(200.0, 100.0, "");
        let mut drawn = blank.clone();
        drawn.text("name", (20.0, 60.0), Anchor::Start, "text");
        let (blank, drawn) = (decoded(&png(&blank.standalone()).unwrap()), decoded(&png(&drawn.standalone()).unwrap()));
        assert_eq!((drawn.width(), drawn.height()), (400, 200));
        assert_eq!(drawn.pixel(1, 1).map(|own| (own.red(), own.alpha())), Some((255, 255)));
        assert_ne!(blank.data(), drawn.data());
    }

    #[test]
    fn figures_of_kiln_are_known_and_others_are_not() {
        let svg = Canvas::new(60.0, 10.0, "x").standalone();
        let own = png(&svg).unwrap();
        assert!(is_figure(svg.as_bytes()) && is_figure(&own) && decoded(&own).width() == 120);
        let other = Pixmap::new(4, 4).unwrap().encode_png().unwrap();
        assert!(!is_figure(&other) && !is_figure(b"") && !is_figure(b"<svg/>") && !is_figure(&own[..20]));
        // The sum of the chunk that every PNG ends with.
        assert_eq!(checksum(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let huge = Canvas::new(1e6, 10.0, "x").standalone();
        assert!(png(&huge).unwrap_err().to_string().contains("too many"));
        assert!(png("<svg").is_err());
    }
}
