//! Makes enums whose variants are words that people and programs read.

/// An enum with the word of each variant, which is how it is stored, sent and written.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$meaning:meta])* $variant:ident = $word:tt,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// The word for it on every surface.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

pub(crate) use words;
