//! The rules of shogi for Manaka: legality, moves, declaration, repetition; the fence around the rules library.
