//! The figures as a page: one file, no script, nothing fetched.

use super::figures::{Bar, Stat};
use super::plot::{Plot, escaped, heat, short};
use super::text::{grouped, percent, share};
use std::fmt::Write;

/// Colours, for light and dark, and all else that is not a figure.
const STYLE: &str = include_str!("page.css");

#[expect(clippy::cast_precision_loss, reason = "places in a picture")]
const fn f(count: u64) -> f64 {
    count as f64
}

impl Stat {
    /// A page with plots: HTML without anything outside of it.
    #[must_use]
    pub fn html(&self) -> String {
        let title = format!(
            "{} {} in {} {} files",
            grouped(self.totals.records),
            self.unit(),
            self.totals.files,
            self.kind
        );
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        );
        self.head(&mut page);
        page.push_str("<div class=\"plots\">\n");
        for (title, says, svg) in self.plots().into_iter().flatten() {
            let _ = writeln!(page, "<figure><figcaption><b>{title}</b> {says}</figcaption>{svg}</figure>");
        }
        page.push_str("</div>\n");
        let _ = write!(
            page,
            "<details><summary>All figures</summary><pre>{}</pre></details>\n</main>\n</body>\n</html>\n",
            escaped(&self.to_string())
        );
        page
    }

    /// What it is, the alarms, and the figures one looks for first.
    fn head(&self, page: &mut String) {
        let name = match self.parts.as_slice() {
            [one] => one.path.display().to_string(),
            parts => format!("{} {} files", parts.len(), self.kind),
        };
        let _ = writeln!(page, "<header><h1>{}</h1>", escaped(&name));
        if let Some(stated) = &self.stated {
            let _ = write!(
                page,
                "<p class=\"stated\">pov <b>{}</b> · policy <b>{}</b>",
                stated.pov, stated.policy_source
            );
            if stated.mate_scale > 0 {
                let _ =
                    write!(page, " · mate scale <b>{}</b> − <b>{}</b>", stated.mate_scale, stated.mate_slack);
            }
            if stated.eval_coef > 0.0 {
                let _ = write!(page, " · eval_coef <b>{}</b>", stated.eval_coef);
            }
            if stated.fv_scale > 0 {
                let _ = write!(page, " · FV_SCALE <b>{}</b>", stated.fv_scale);
            }
            page.push_str("</p>\n");
        }
        page.push_str("</header>\n");
        if self.alarms.is_empty() {
            page.push_str("<p class=\"ok\">No alarm.</p>\n");
        }
        for alarm in &self.alarms {
            let _ = writeln!(
                page,
                "<p class=\"alarm\"><b>{}</b> {}<br><span>{}; goes off at: {}</span></p>",
                alarm.id,
                escaped(alarm.sentence),
                escaped(&alarm.message),
                escaped(alarm.threshold)
            );
        }
        page.push_str("<dl>\n");
        for (name, figure) in self.tiles() {
            let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&figure));
        }
        page.push_str("</dl>\n");
    }

    fn tiles(&self) -> Vec<(&'static str, String)> {
        let mut tiles = vec![(self.unit(), grouped(self.totals.records))];
        if let Some(games) = &self.games {
            tiles.push(("games", grouped(games.games)));
            tiles.push(("records a game", format!("{:.1}", games.records.mean)));
        }
        if let Some(candidates) = &self.candidates {
            tiles.push(("candidates a record", format!("{:.2}", candidates.spread.mean)));
        }
        if let Some(outcomes) = &self.outcomes {
            let black = outcomes.black;
            let all = black.won + black.drawn + black.lost + black.mixed;
            tiles.push(("Black wins", percent(black.won, all)));
            tiles.push(("drawn", percent(black.drawn, all)));
        }
        let duplicates = &self.duplicates;
        let about = if duplicates.exact { "" } else { "≈ " };
        tiles.push(("duplicates", format!("{about}{}", share(Some(duplicates.share)))));
        if let Some(fitted) = self.values.scale.fitted {
            tiles.push(("fitted eval_coef", format!("{fitted:.0}")));
        }
        tiles.push((
            "bytes a record",
            self.totals.bytes_per_record.map_or("-".to_owned(), |per| format!("{per:.1}")),
        ));
        tiles
    }

    /// Title, what to see in it, and picture; those of which there is something to see.
    fn plots(&self) -> Vec<Option<(&'static str, String, String)>> {
        let board = &self.board;
        vec![
            self.ply_plot(),
            self.outcome_plot(),
            self.score_plot(),
            self.calibration_plot(),
            self.candidate_plot(),
            self.length_plot(),
            self.opening_plot(),
            (self.totals.records > 0).then(|| {
                let squares: [(&str, &[u64]); 2] =
                    [("Black’s king", &board.black_king_squares), ("White’s king", &board.white_king_squares)];
                let home = (share(Some(board.black_king_home)), share(Some(board.white_king_home)));
                let says = format!("percent of positions on each square; {} of Black’s on ranks 8 and 9, {} of White’s on 1 and 2", home.0, home.1);
                ("Where the kings stand", says, heat(squares))
            }),
        ]
    }

    fn ply_plot(&self) -> Option<(&'static str, String, String)> {
        let (last, first) = (self.plies.last()?.ply, self.plies.first()?.ply);
        let most = self.plies.iter().map(|bin| bin.records).max()?;
        let mut plot = Plot::counts((f(first), f(last + 1)), f(most), "ply");
        // One area: hundreds of narrow bars would flicker.
        let mut steps = Vec::new();
        let mut next = first;
        for bin in &self.plies {
            steps.extend([(f(next), 0.0, 0.0), (f(bin.ply), 0.0, 0.0)]);
            steps.extend([bin.ply, bin.ply + 1].map(|ply| (f(ply), 0.0, f(bin.records))));
            next = bin.ply + 1;
        }
        plot.band(&steps, "a");
        let says = format!(
            "{} at each ply; mean {:.1}, median {}, last {}",
            self.unit(),
            self.ply.mean,
            self.ply.p50,
            self.ply.greatest
        );
        Some(("Plies", says, plot.svg("records by ply")))
    }

    fn outcome_plot(&self) -> Option<(&'static str, String, String)> {
        self.outcomes.as_ref()?;
        // Few records at a ply say nothing: those of a step are taken together, and steps without enough are left out.
        let step = (self.plies.last()?.ply / 80).max(1);
        let mut steps: Vec<(u64, [u64; 3])> = Vec::new();
        for bin in &self.plies {
            let at = bin.ply / step * step;
            if steps.last().is_none_or(|last| last.0 != at) {
                steps.push((at, [0; 3]));
            }
            if let Some((_, sums)) = steps.last_mut() {
                for (sum, more) in sums.iter_mut().zip([bin.black.won, bin.black.drawn, bin.black.lost]) {
                    *sum += more;
                }
            }
        }
        steps.retain(|(_, counts)| counts.iter().sum::<u64>() > 0);
        let end = steps.last()?.0 + step;
        let start = steps.first()?.0;
        let mut plot = Plot::new((f(start), f(end)), (0.0, 1.0), "ply", |at| format!("{:.0}%", at * 100.0));
        let layers = |from: usize, to: usize| -> Vec<(f64, f64, f64)> {
            let mut points = Vec::new();
            for (at, counts) in &steps {
                let all = f(counts.iter().sum());
                let below = |n: usize| f(counts[..n].iter().sum()) / all;
                points.push((f(*at), below(from), below(to)));
                points.push((f(*at + step), below(from), below(to)));
            }
            points
        };
        plot.band(&layers(0, 1), "black");
        plot.band(&layers(1, 2), "drawn");
        plot.band(&layers(2, 3), "white");
        let legend = r#"<i class="key black"></i> Black wins <i class="key drawn"></i> drawn <i class="key white"></i> White wins"#;
        Some(("Outcomes by ply", legend.to_owned(), plot.svg("outcomes by ply")))
    }

    fn score_plot(&self) -> Option<(&'static str, String, String)> {
        let scores = self.scores.as_ref()?;
        // Counts in a tenth of the width say little of bars of different width: all are drawn per 100 cp, to a root.
        let density = |bar: &Bar| f(bar.count) * 100.0 / f64::from((bar.to - bar.from).max(1));
        let most = scores.bars.iter().map(density).fold(1.0, f64::max).log10();
        let reach = f64::from(scores.bars.iter().map(|bar| bar.from.abs().max(bar.to.abs())).max()?);
        // The middle of the scale is where most scores are: the axis bends.
        let bend = |cp: f64| cp.signum() * (1.0 + cp.abs() / 300.0).ln();
        let mut plot =
            Plot::bare((bend(-reach), bend(reach)), (0.0, most * 1.05), "cp, from the side to move", |at| {
                if at.fract() == 0.0 {
                    format!("10<tspan baseline-shift=\"super\" font-size=\"70%\">{at:.0}</tspan>")
                } else {
                    String::new()
                }
            });
        for bar in &scores.bars {
            let (from, to) = (f64::from(bar.from), f64::from(bar.to));
            let mates = self.stated.as_ref().and_then(|stated| stated.mate_threshold);
            let mate = mates.is_some_and(|least| from.abs().max(to.abs()) > f64::from(least));
            let says = format!("{} … {} cp: {}", bar.from, bar.to, grouped(bar.count));
            plot.bar(
                bend(from),
                bend(to),
                density(bar).max(1.0).log10(),
                if mate { "b" } else { "a" },
                &says,
            );
        }
        for cp in [-30_000, -10_000, -3000, -1000, -300, 0, 300, 1000, 3000, 10_000, 30_000] {
            if f64::from(cp).abs() <= reach {
                plot.tick(bend(f64::from(cp)), &cp.to_string());
            }
        }
        let band = scores.mate_band.as_ref().map_or("no gap sets a band of mates apart".to_owned(), |band| {
            format!("mates {} … {}, ordinary to {}", band.bottom, band.top, band.below)
        });
        let says = format!(
            "candidates per 100 cp, both axes bent; from {} to {}; {band}",
            scores.least, scores.greatest
        );
        Some(("Scores", says, plot.svg("scores of candidates")))
    }

    fn calibration_plot(&self) -> Option<(&'static str, String, String)> {
        let bins = &self.values.calibration;
        let most = bins.iter().map(|bin| bin.records).max().filter(|&most| most > 0)?;
        let mut plot = Plot::new((-1.0, 1.0), (-1.05, 1.05), "root value", |at| format!("{at:+.1}"));
        plot.line(&[(-1.0, -1.0), (1.0, 1.0)], "ideal");
        if let Some(slope) = self.values.scale.slope {
            let fitted: Vec<(f64, f64)> = (-49..=49)
                .map(|at| f64::from(at) / 50.0)
                .map(|value| (value, libm::tanh(slope * libm::atanh(value))))
                .collect();
            plot.line(&fitted, "fit");
        }
        for bin in bins {
            if let Some((value, outcome)) = bin.value.zip(bin.outcome) {
                let says =
                    format!("{} records: value {value:+.3}, outcome {outcome:+.3}", grouped(bin.records));
                plot.dot(value, outcome, 2.5 + 5.5 * (f(bin.records) / f(most)).sqrt(), "a", &says);
            }
        }
        let scale = &self.values.scale;
        let fitted = scale.fitted.zip(scale.eval_coef).map_or_else(
            || scale.slope.map_or(String::new(), |slope| format!("; fitted slope {slope:.2}")),
            |(fitted, stated)| format!("; fitted eval_coef {fitted:.0} against {stated:.0}"),
        );
        let says = format!("mean outcome over mean value; dashed: where they agree, line: the fit{fitted}");
        Some(("Calibration", says, plot.svg("outcome against value")))
    }

    fn candidate_plot(&self) -> Option<(&'static str, String, String)> {
        let candidates = self.candidates.as_ref()?;
        let last = candidates.counts.last()?.value;
        let most = candidates.counts.iter().map(|bin| bin.count).max()?;
        let mut plot = Plot::counts((0.5, f(last.max(5)) + 0.5), f(most), "candidates");
        for bin in &candidates.counts {
            let says = format!("{} candidates: {}", bin.value, grouped(bin.count));
            plot.bar(f(bin.value) - 0.5, f(bin.value) + 0.5, f(bin.count), "a", &says);
        }
        for (width, name) in [(5u64, "5"), (64, "64")] {
            if last > width {
                plot.mark(f(width) + 0.5, name);
            }
        }
        let cut = percent(candidates.wider_than_5, self.totals.records);
        let says = format!("{} by number of candidates; a width of 5 would cut {cut}", self.unit());
        Some(("Candidates", says, plot.svg("records by number of candidates")))
    }

    fn opening_plot(&self) -> Option<(&'static str, String, String)> {
        const SHOWN: usize = 12;
        let games = self.games.as_ref()?;
        let shown = &games.opens[..games.opens.len().min(SHOWN)];
        let most = shown.first()?.count;
        let places = u32::try_from(shown.len()).ok()?.max(6);
        let mut plot =
            Plot::bare((0.0, f64::from(places)), (0.0, f(most) * 1.04), "ply of the first record", short);
        for (at, open) in (0u32..).zip(shown) {
            let says = format!("ply {}: {} games", open.value, grouped(open.count));
            let at = f64::from(at);
            plot.bar(at + 0.1, at + 0.9, f(open.count), "a", &says);
            plot.tick(at + 0.5, &open.value.to_string());
        }
        let rest = games.opens.len() - shown.len();
        let others = if rest > 0 { format!("; {rest} further plies") } else { String::new() };
        Some((
            "Openings",
            format!("games by the ply they open at, most frequent first{others}"),
            plot.svg("games by opening ply"),
        ))
    }

    fn length_plot(&self) -> Option<(&'static str, String, String)> {
        let games = self.games.as_ref()?;
        let last = games.lengths.last()?.value;
        let step = (last / 80).max(1);
        let mut bins: Vec<(u64, u64)> = Vec::new();
        for bin in &games.lengths {
            let at = bin.value / step * step;
            match bins.last_mut() {
                Some((other, count)) if *other == at => *count += bin.count,
                _ => bins.push((at, bin.count)),
            }
        }
        let most = bins.iter().map(|bin| bin.1).max()?;
        let mut plot = Plot::counts((0.0, f(last + step)), f(most), "records of a game");
        for (at, count) in bins {
            plot.bar(
                f(at),
                f(at + step),
                f(count),
                "a",
                &format!("{at} … {}: {} games", at + step, grouped(count)),
            );
        }
        let says = format!(
            "games by their number of records; mean {:.1}, longest {}",
            games.records.mean, games.records.greatest
        );
        Some(("Lengths of games", says, plot.svg("games by length")))
    }
}
