//! Text and odd files that deceive whoever reads them.
