//! The band of mates at the top of the scores, and the gap below it.

/// Mates lie at distances of a few plies from one another: scores further apart than this are not of one band.
const JOIN: u16 = 64;
/// A gap as wide as this below a band sets it apart. Ordinary scores that high are rare, and have gaps of their own.
pub const GAP: u16 = 100;
/// A band as narrow as a discount by plies can be: mates were seen 315 below their scale.
const WIDEST: u16 = 1024;
/// Fewer scores than this are no band.
const FEWEST: u64 = 20;
/// No mate scale is as low as this.
const LOWEST: u16 = 8000;

/// A band of mates: |cp|.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    pub top: u16,
    pub bottom: u16,
    /// Scores in it.
    pub scores: u64,
    /// The highest |cp| below it.
    pub below: u16,
}

/// The band at the top of scores counted by |cp|, when a gap sets it apart.
pub fn band(by_size: &[u64]) -> Option<Band> {
    let mut present = (0..by_size.len())
        .rev()
        .filter(|&size| by_size[size] > 0)
        .filter_map(|size| u16::try_from(size).ok());
    let top = present.next()?;
    let mut band = Band { top, bottom: top, scores: by_size[usize::from(top)], below: 0 };
    for size in present {
        if band.bottom - size > JOIN {
            band.below = size;
            break;
        }
        band.bottom = size;
        band.scores += by_size[usize::from(size)];
    }
    let apart = band.bottom - band.below >= GAP && band.scores >= FEWEST;
    (apart && top >= LOWEST && top - band.bottom <= WIDEST).then_some(band)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(scores: impl IntoIterator<Item = usize>) -> Vec<u64> {
        let mut sizes = vec![0; 32768];
        scores.into_iter().for_each(|size| sizes[size] += 1);
        sizes
    }

    #[test]
    fn the_bands_of_a_published_corpus_are_told_apart() {
        // Ordinary scores up to 31753, mates from 31971 to 31999: a gap of 218.
        let found = band(&sizes((0..=31753).chain(31971..=31999)));
        assert_eq!(found, Some(Band { top: 31999, bottom: 31971, scores: 29, below: 31753 }));
    }

    #[test]
    fn what_is_no_band_of_mates_is_none() {
        assert_eq!(band(&[]), None);
        assert_eq!(band(&sizes(0..=31999)), None, "no gap");
        assert_eq!(band(&sizes((0..4000).chain([31999; 19]))), None, "too few");
        assert_eq!(band(&sizes((0..2000).chain(2200..2300))), None, "too low");
        assert_eq!(band(&sizes((0..2000).chain(28000..32000))), None, "too wide");
    }
}
