//! Inputs of networks, made from packed positions (features.md).

mod attacks;
mod board;
mod floats;
mod halfkp;
mod label;
mod planes;
mod view;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide;

pub use board::{Board, MEN, PositionFault};
pub use floats::FloatPlanes;
#[cfg(target_arch = "x86_64")]
pub(crate) use floats::Lines;
pub use halfkp::{
    HALFKP_INPUTS, HALFKP_WIDTH, KP_INPUTS, KP_WIDTH, P_INPUTS, PAD, halfkp, kp, p_in_hand, p_on_board,
};
pub(crate) use halfkp::{halfkp_by, kp_by};
pub use label::{LABELS, label};
pub use planes::{BITS1, BITS2, PLANES1, PLANES2, Planes, Unfolded};
pub use view::View;
