//! What goes into a network and comes out of it: dlshogi's names, types and shapes.

use manaka_load::features::{LABELS, PLANES1, PLANES2};
use ort::session::Session;
use ort::value::{Outlet, TensorElementType, ValueType};

/// Planes that differ by square, and planes that do not (features.md §6).
pub(crate) const INPUTS: [&str; 2] = ["input1", "input2"];
/// Logits by label (features.md §8), and a win rate of the side to move.
pub(crate) const OUTPUTS: [&str; 2] = ["output_policy", "output_value"];

/// Numbers as shapes have them.
const SHAPES: [&[i64]; 4] = [&[PLANES1 as i64, 9, 9], &[PLANES2 as i64, 9, 9], &[LABELS as i64], &[1]];

/// One input or output.
#[derive(Clone, Debug)]
struct Port {
    name: String,
    /// Its type and shape, −1 being free; none where it is no tensor.
    tensor: Option<(TensorElementType, Vec<i64>)>,
}

impl From<&Outlet> for Port {
    fn from(outlet: &Outlet) -> Self {
        let tensor = match outlet.dtype() {
            ValueType::Tensor { ty, shape, .. } => Some((*ty, shape.to_vec())),
            _ => None,
        };
        Self { name: outlet.name().to_owned(), tensor }
    }
}

/// The batch size that a network's own shape fixes; none where it takes any. What is different where it is not such a
/// network.
pub(crate) fn fixed_batch(session: &Session) -> Result<Option<usize>, String> {
    let ports = |of: &[Outlet]| of.iter().map(Port::from).collect::<Vec<_>>();
    batch_of(&ports(session.inputs()), &ports(session.outputs()))
}

fn batch_of(inputs: &[Port], outputs: &[Port]) -> Result<Option<usize>, String> {
    // A third input would be one that nobody fills; a third output does no harm.
    if inputs.len() != INPUTS.len() {
        return Err(different("inputs", inputs));
    }
    let mut fixed = None;
    for (name, shape) in INPUTS.into_iter().zip(SHAPES) {
        let batch = batch(inputs, name, shape).ok_or_else(|| different("inputs", inputs))?;
        if let (Some(one), Some(other)) = (batch, fixed)
            && one != other
        {
            return Err(format!("one input takes batches of {other}, the other of {one}"));
        }
        fixed = batch.or(fixed);
    }
    for (name, shape) in OUTPUTS.into_iter().zip(&SHAPES[INPUTS.len()..]) {
        // How many rows come out is seen when they come; exporters seldom say it.
        batch(outputs, name, shape).ok_or_else(|| different("outputs", outputs))?;
    }
    Ok(fixed)
}

/// The first dimension, if it is fixed, of the tensor of f32 with this name whose others are these; `None` where there is
/// no such tensor.
fn batch(ports: &[Port], name: &str, wanted: &[i64]) -> Option<Option<usize>> {
    let (ty, shape) = ports.iter().find(|port| port.name == name)?.tensor.as_ref()?;
    let (&batch, rest) = shape.split_first()?;
    let fits = *ty == TensorElementType::Float32
        && batch != 0
        && rest.len() == wanted.len()
        && rest.iter().zip(wanted).all(|(&here, &wanted)| here == wanted || here < 0);
    fits.then(|| usize::try_from(batch).ok())
}

fn different(side: &str, ports: &[Port]) -> String {
    let (names, shapes) = if side == "inputs" { (INPUTS, &SHAPES[..2]) } else { (OUTPUTS, &SHAPES[2..]) };
    let wanted: Vec<_> = names
        .into_iter()
        .zip(shapes)
        .map(|(name, shape)| format!("{name} f32[n,{}]", dimensions(shape)))
        .collect();
    let here: Vec<_> = ports
        .iter()
        .map(|Port { name, tensor }| match tensor {
            Some((ty, shape)) => format!("{name} {ty}[{}]", dimensions(shape)),
            None => format!("{name} (no tensor)"),
        })
        .collect();
    format!("its {side} are {}; wanted: {}", here.join(", "), wanted.join(", "))
}

fn dimensions(shape: &[i64]) -> String {
    let texts = shape.iter().map(|&size| if size < 0 { "n".to_owned() } else { size.to_string() });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, ty: TensorElementType, shape: &[i64]) -> Port {
        Port { name: name.to_owned(), tensor: Some((ty, shape.to_vec())) }
    }

    fn f32s(name: &str, shape: &[i64]) -> Port {
        port(name, TensorElementType::Float32, shape)
    }

    fn dlshogi(batch: i64) -> (Vec<Port>, Vec<Port>) {
        (
            vec![f32s("input1", &[batch, 62, 9, 9]), f32s("input2", &[batch, 57, 9, 9])],
            vec![f32s("output_policy", &[batch, 2187]), f32s("output_value", &[batch, 1])],
        )
    }

    #[test]
    fn dlshogis_names_and_shapes_are_taken_with_a_free_or_a_fixed_batch() {
        let of = |(inputs, outputs): (Vec<Port>, Vec<Port>)| batch_of(&inputs, &outputs);
        assert_eq!(of(dlshogi(-1)), Ok(None));
        assert_eq!(of(dlshogi(16)), Ok(Some(16)));
        let (mut inputs, mut outputs) = dlshogi(-1);
        inputs.reverse();
        outputs.insert(0, f32s("aux", &[-1, 7]));
        assert_eq!(batch_of(&inputs, &outputs), Ok(None));
    }

    #[test]
    fn every_other_network_is_refused_with_what_it_has_and_what_is_wanted() {
        let refused = |change: &dyn Fn(&mut Vec<Port>, &mut Vec<Port>)| {
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
        refused(&|inputs, _| inputs[1] = port("input2", TensorElementType::Float16, &[-1, 57, 9, 9]));
        refused(&|inputs, _| inputs[0].tensor = None);
        refused(&|inputs, _| inputs.push(f32s("input3", &[-1, 1])));
        refused(&|_, outputs| drop(outputs.pop()));
        refused(&|inputs, _| {
            inputs[0] = f32s("input1", &[4, 62, 9, 9]);
            inputs[1] = f32s("input2", &[8, 57, 9, 9]);
        });
    }
}
