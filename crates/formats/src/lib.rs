//! Plans as text: Markdown in three dialects and JSON, read with places and edited byte for byte.
