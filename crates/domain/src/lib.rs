//! What a plan and a batch are and which moves are legal: plain functions over plain data.
