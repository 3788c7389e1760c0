//! The token that programs show: 256 random bits in a file that only its owner may read.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pleach_engine::fault::{Blame, Fault, Faults};
use pleach_system::text::causes::with_causes;
use subtle::ConstantTimeEq as _;

const BYTES: usize = 32;

#[derive(Clone)]
pub struct Token(String);

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} does not contain a token", .0.display())]
    NotOne(PathBuf),
}

impl TokenError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => {
                "check that the folder is writable, or set PLEACH_HOME to another one"
            }
            Self::NotOne(_) => "delete the file; a new one is created",
        }
    }
}

impl From<TokenError> for Faults {
    fn from(error: TokenError) -> Self {
        Fault::new(Blame::Environment, "token", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    pub fn load_or_create(folder: &Path) -> Result<Self, TokenError> {
        let path = folder.join("token");
        let failed = |doing| {
            let path = path.clone();
            move |source| TokenError::Io {
                doing,
                path,
                source,
            }
        };
        match Self::load(&path) {
            Err(TokenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        // Whole or not at all, and the first of several wins.
        let part = folder.join(format!("token.{}", random_word()));
        let mut options = File::options();
        options.create_new(true).write(true).mode(0o600);
        let written = options.open(&part).and_then(|mut file| {
            writeln!(file, "{}", Self::new_random().0)?;
            file.sync_all()
        });
        let placed = written.and_then(|()| match fs::hard_link(&part, &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            placed => placed,
        });
        let _ = fs::remove_file(&part);
        placed.map_err(failed("make"))?;
        Self::load(&path)
    }

    fn load(path: &Path) -> Result<Self, TokenError> {
        let failed = |doing| {
            move |source| TokenError::Io {
                doing,
                path: path.to_owned(),
                source,
            }
        };
        let mut file = File::open(path).map_err(failed("open"))?;
        let mode = file
            .metadata()
            .map_err(failed("look at"))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            let private = fs::Permissions::from_mode(0o600);
            file.set_permissions(private).map_err(failed("protect"))?;
        }
        let mut text = String::new();
        let mut start = io::Read::take(&mut file, 1 << 10);
        start.read_to_string(&mut text).map_err(failed("read"))?;
        let token = text.trim();
        let is_one =
            token.len() >= 2 * BYTES && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_one {
            Ok(Self(token.to_owned()))
        } else {
            Err(TokenError::NotOne(path.to_owned()))
        }
    }

    pub(super) fn new_random() -> Self {
        Self(random_hex::<BYTES>())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether a word is it; takes as long for a near miss as for any other.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        word.ct_eq(self.as_bytes()).into()
    }
}

/// A word that nobody guesses.
pub(super) fn random_word() -> String {
    random_hex::<16>()
}

fn random_hex<const N: usize>() -> String {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let got =
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += got.expect("Linux gives random numbers to everybody");
    }
    to_hex(&bytes)
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string works");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let made: Vec<String> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Token::load_or_create(folder.path()).unwrap().0))
                .collect();
            makers
                .into_iter()
                .map(|maker| maker.join().unwrap())
                .collect()
        });
        assert!(
            made.iter()
                .all(|token| *token == made[0] && token.len() == 2 * BYTES)
        );
        let token = fs::metadata(folder.path().join("token")).unwrap();
        assert_eq!(token.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_token_that_others_may_read_is_made_private_and_an_empty_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Token::load_or_create(folder.path()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        Token::load_or_create(folder.path()).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::write(&path, "").unwrap();
        assert!(matches!(
            Token::load_or_create(folder.path()),
            Err(TokenError::NotOne(_))
        ));
    }

    #[test]
    fn only_the_whole_token_is_it() {
        let token = Token::new_random();
        let right = token.as_str();
        assert!(token.is(right.as_bytes()));
        for wrong in [format!("{right}0"), right[1..].to_owned(), String::new()] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
    }
}
