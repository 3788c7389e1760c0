//! The protocol against what real agents said.
