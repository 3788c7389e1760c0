//! Small tools of text.

pub mod causes;
pub mod hash;
pub mod hidden;
pub mod last_line;
pub mod moment;
pub mod neutral_text;
pub mod placeholder;
pub mod shell_words;
