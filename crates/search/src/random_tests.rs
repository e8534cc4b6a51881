use super::*;

/// Computed by an implementation of ChaCha8 of its own: the stream is a promise.
#[test]
fn the_draws_are_those_of_the_page() {
    let mut random = Random::new(1, 2, 3);
    let units: Vec<f64> = (0..4).map(|_| random.unit()).collect();
    assert_eq!(units, [0.1332036086229088, 0.322916811134517, 0.905756299259454, 0.668047181329683]);
    let mut random = Random::new(1, 2, 3);
    for wanted in [-0.7010540534293441, -0.12253664342649863, 2.3127870111734397, 0.9078353862550753] {
        assert!((random.gumbel() - wanted).abs() < 1e-15);
    }
}

fn mean_and_variance(mut draw: impl FnMut() -> f64) -> (f64, f64) {
    const DRAWS: u32 = 200_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let x = draw();
        sum += x;
        squares += x * x;
    }
    let mean = sum / f64::from(DRAWS);
    (mean, squares / f64::from(DRAWS) - mean * mean)
}

#[test]
fn the_distributions_have_their_means_and_variances() {
    let mut random = Random::new(7, 0, 0);
    let near = |(mean, variance): (f64, f64), wanted: (f64, f64)| {
        assert!((mean - wanted.0).abs() < 0.02 * wanted.1.sqrt(), "mean {mean}, not {}", wanted.0);
        assert!((variance / wanted.1 - 1.0).abs() < 0.06, "variance {variance}, not {}", wanted.1);
    };
    near(mean_and_variance(|| random.unit()), (0.5, 1.0 / 12.0));
    near(mean_and_variance(|| random.normal()), (0.0, 1.0));
    let pi = std::f64::consts::PI;
    near(mean_and_variance(|| random.gumbel()), (0.577_215_664_9, pi * pi / 6.0));
    for shape in [0.03, 0.15, 0.5, 1.0, 3.5] {
        near(mean_and_variance(|| random.gamma(shape)), (shape, shape));
    }
}

/// A share of a symmetric Dirichlet of n has mean 1/n and variance (n − 1) / (n² (αn + 1)).
#[test]
fn dirichlet_shares_sum_to_one_and_vary_as_they_should() {
    let mut random = Random::new(8, 0, 0);
    let mut shares = [0.0; 40];
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..20_000 {
        random.dirichlet(0.15, &mut shares);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        sum += shares[3];
        squares += shares[3] * shares[3];
    }
    let mean = sum / 20_000.0;
    let variance = squares / 20_000.0 - mean * mean;
    let wanted = 39.0 / (1600.0 * 7.0);
    assert!((mean - 0.025).abs() < 0.002, "{mean}");
    assert!((variance / wanted - 1.0).abs() < 0.1, "{variance}, not {wanted}");
    random.dirichlet(1e-6, &mut shares);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "draws that underflow are shares still");
}
