//! What goes into a network and comes out of it: dlshogi's names, types and shapes.

use manaka_load::features::{LABELS, PLANES1, PLANES2};
use ort::session::Session;
use ort::value::{Outlet, TensorElementType, ValueType};

/// Planes that differ by square, and planes that do not (features.md §6).
pub(crate) const INPUTS: [&str; 2] = ["input1", "input2"];
/// Logits by label (features.md §8), and a win rate of the side to move.
pub(crate) const OUTPUTS: [&str; 2] = ["output_policy", "output_value"];

/// Numbers as shapes have them.
#[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "62, 57 and 2187")]
const SHAPES: [&[i64]; 4] = [&[PLANES1 as i64, 9, 9], &[PLANES2 as i64, 9, 9], &[LABELS as i64], &[1]];

/// The batch size that a network's own shape fixes; none where it takes any. What is different where it is not such a
/// network.
pub(crate) fn fixed_batch(session: &Session) -> Result<Option<usize>, String> {
    batch_of(session.inputs(), session.outputs())
}

fn batch_of(inputs: &[Outlet], outputs: &[Outlet]) -> Result<Option<usize>, String> {
    let mut fixed = None;
    // A third input would be one that nobody fills; a third output does no harm.
    let extra = inputs.len() != INPUTS.len();
    for (at, name) in INPUTS.into_iter().chain(OUTPUTS).enumerate() {
        let (side, of) = if at < INPUTS.len() { ("inputs", inputs) } else { ("outputs", outputs) };
        let named = of.iter().find(|outlet| outlet.name() == name && (side == "outputs" || !extra));
        let Some(batch) = named.and_then(|outlet| batch(outlet, SHAPES[at])) else {
            return Err(format!("its {side} are {}; wanted: {}", listed(of), wanted(side)));
        };
        match (batch, fixed) {
            (Some(one), Some(other)) if one != other => {
                return Err(format!("one input takes batches of {other}, another of {one}"));
            }
            // What an output says of its first dimension is often wrong, and is seen when it comes.
            _ if side == "outputs" => {}
            _ => fixed = batch.or(fixed),
        }
    }
    Ok(fixed)
}

/// The first dimension of a tensor of f32 whose others are these, 0 being free: `None` where it is another tensor.
fn batch(outlet: &Outlet, wanted: &[i64]) -> Option<Option<usize>> {
    let ValueType::Tensor { ty: TensorElementType::Float32, shape, .. } = outlet.dtype() else { return None };
    let (&batch, rest) = shape.split_first()?;
    let fits = rest.len() == wanted.len()
        && rest.iter().zip(wanted).all(|(&here, &wanted)| here == wanted || here < 0);
    match usize::try_from(batch) {
        _ if !fits => None,
        Ok(0) => None,
        fixed => Some(fixed.ok()),
    }
}

fn wanted(side: &str) -> String {
    let (names, shapes) = if side == "inputs" { (INPUTS, &SHAPES[..2]) } else { (OUTPUTS, &SHAPES[2..]) };
    let texts = names.iter().zip(shapes).map(|(name, shape)| {
        let rest: Vec<_> = shape.iter().map(i64::to_string).collect();
        format!("{name} f32[n,{}]", rest.join(","))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn listed(outlets: &[Outlet]) -> String {
    let texts = outlets.iter().map(|outlet| match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => {
            let dims = shape.iter().map(|&dim| if dim < 0 { "n".to_owned() } else { dim.to_string() });
            format!("{} {ty}[{}]", outlet.name(), dims.collect::<Vec<_>>().join(","))
        }
        _ => format!("{} (no tensor)", outlet.name()),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ort::value::{Shape, SymbolicDimensions};

    fn outlet(name: &str, ty: TensorElementType, shape: &[i64]) -> Outlet {
        let shape = Shape::new(shape.iter().copied());
        Outlet::new(
            name,
            ValueType::Tensor { ty, dimension_symbols: SymbolicDimensions::empty(shape.len()), shape },
        )
    }

    fn f32s(name: &str, shape: &[i64]) -> Outlet {
        outlet(name, TensorElementType::Float32, shape)
    }

    fn dlshogi(batch: i64) -> (Vec<Outlet>, Vec<Outlet>) {
        (
            vec![f32s("input1", &[batch, 62, 9, 9]), f32s("input2", &[batch, 57, 9, 9])],
            vec![f32s("output_policy", &[batch, 2187]), f32s("output_value", &[batch, 1])],
        )
    }

    #[test]
    fn dlshogis_names_and_shapes_are_taken_with_a_free_or_a_fixed_batch() {
        let of = |(inputs, outputs): (Vec<Outlet>, Vec<Outlet>)| batch_of(&inputs, &outputs);
        assert_eq!(of(dlshogi(-1)), Ok(None));
        assert_eq!(of(dlshogi(16)), Ok(Some(16)));
        let (mut inputs, mut outputs) = dlshogi(-1);
        inputs.reverse();
        outputs.insert(0, f32s("aux", &[-1, 7]));
        assert_eq!(batch_of(&inputs, &outputs), Ok(None));
    }

    #[test]
    fn every_other_network_is_refused_with_what_it_has_and_what_is_wanted() {
        let refused = |change: &dyn Fn(&mut Vec<Outlet>, &mut Vec<Outlet>)| {
            let (mut inputs, mut outputs) = dlshogi(-1);
            change(&mut inputs, &mut outputs);
            batch_of(&inputs, &outputs).unwrap_err()
        };
        assert_eq!(
            refused(&|inputs, _| *inputs = vec![f32s("input", &[-1, 176, 9, 9])]),
            "its inputs are input f32[n,176,9,9]; wanted: input1 f32[n,62,9,9], input2 f32[n,57,9,9]"
        );
        assert_eq!(
            refused(&|_, outputs| outputs[1] = f32s("output_value", &[-1, 3])),
            "its outputs are output_policy f32[n,2187], output_value f32[n,3]; \
             wanted: output_policy f32[n,2187], output_value f32[n,1]"
        );
        refused(&|inputs, _| inputs[0] = f32s("input1", &[-1, 62, 81]));
        refused(&|inputs, _| inputs[0] = f32s("input1", &[0, 62, 9, 9]));
        refused(&|inputs, _| inputs[1] = outlet("input2", TensorElementType::Float16, &[-1, 57, 9, 9]));
        refused(&|inputs, _| inputs.push(f32s("input3", &[-1, 1])));
        refused(&|_, outputs| drop(outputs.pop()));
        refused(&|inputs, _| {
            inputs[0] = f32s("input1", &[4, 62, 9, 9]);
            inputs[1] = f32s("input2", &[8, 57, 9, 9]);
        });
    }
}
