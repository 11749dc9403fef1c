//! Closed lists of causes. In: a name, its identifier and what it means, and the page that documents each under a heading of its
//! own. Out: an enumeration whose identifiers are stored, printed in JSON and explained.

/// The part of a page under an identifier's heading; empty where there is none.
pub(crate) fn part(page: &'static str, id: &str) -> &'static str {
    let heading = format!("### `{id}`\n");
    let part = page.split_once(&*heading).map_or("", |(_, rest)| rest);
    part.split("\n#").next().unwrap_or_default().trim()
}

/// Makes such a list.
macro_rules! causes {
    ($(#[doc = $about:literal])+ $list:ident in $page:ident; $($(#[doc = $doc:literal])+ $name:ident => $id:literal,)+) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $list {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $name,)+
        }

        impl $list {
            /// Every cause, in the order of the documentation.
            pub const ALL: &[$list] = &[$($list::$name,)+];

            /// The stable identifier.
            pub fn id(self) -> &'static str {
                match self {
                    $($list::$name => $id,)+
                }
            }

            /// What it means, in a line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $($list::$name => concat!($($doc),+).trim(),)+
                }
            }

            /// What it looks like, and what to do about it: its part of the page.
            pub fn text(self) -> &'static str {
                $crate::documented::part($page, self.id())
            }
        }

        impl std::fmt::Display for $list {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }
    };
}
pub(crate) use causes;
