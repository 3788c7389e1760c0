//! Objects of a weaving: read from the repository, written to memory, stored at the end as one pack.
//!
//! Knows formats of objects and nothing of merging.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::rc::Rc;

use gix_hash::ObjectId;
use gix_object::bstr::BString;
use gix_object::tree::{Entry, EntryMode};
use gix_object::{CommitRef, Find as _, FindHeader as _, Kind, Tree, WriteTo as _};

use super::WeaveError;
use super::deflate::{Deflater, Pack};

/// Trees that stay in memory once they were read; a few megabytes at most.
const MOST_TREES: usize = 20_000;

/// Fewer objects than this are shown to git in a file each.
const LEAST_FOR_A_PACK: usize = 20;

/// What a tree says of a path that is no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TreeLeaf {
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

impl TreeLeaf {
    /// Whether it is the content of a file, and neither a link nor a submodule.
    pub(super) fn is_file(self) -> bool {
        self.mode.is_blob()
    }
}

/// What weaving needs to know of a commit.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    pub(super) seconds: i64,
    /// The author as the commit has it: name, address and date.
    pub(super) author: Vec<u8>,
    pub(super) message: Vec<u8>,
    /// The encoding of author and message, where it is not UTF-8.
    pub(super) encoding: Option<Vec<u8>>,
}

/// Objects that only memory holds.
type NewObjects = HashMap<ObjectId, (Kind, Rc<[u8]>)>;

pub(super) struct WeaveObjects {
    on_disk: gix_odb::Handle,
    /// Where git's own merges write, and where git finds what only memory holds.
    aside: gix_odb::loose::Store,
    deflater: RefCell<Deflater>,
    kind: gix_hash::Kind,
    fresh: RefCell<NewObjects>,
    order: RefCell<Vec<ObjectId>>,
    shown: RefCell<HashSet<ObjectId>>,
    trees: RefCell<HashMap<ObjectId, Rc<Tree>>>,
}

fn failed<E>(doing: &'static str, id: ObjectId) -> impl FnOnce(E) -> WeaveError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| WeaveError::Objects {
        doing,
        id: id.to_string(),
        source: source.into(),
    }
}

impl WeaveObjects {
    /// Opens the folder that new objects of git's own go to; it names the others as alternates.
    pub(super) fn open(folder: &Path, kind: gix_hash::Kind) -> io::Result<Self> {
        let options = gix_odb::store::init::Options::default();
        let on_disk = gix_odb::at_opts(folder, kind, None, options)?;
        Ok(Self {
            on_disk,
            aside: gix_odb::loose::Store::at(folder, kind),
            deflater: RefCell::new(Deflater::new()),
            kind,
            fresh: RefCell::default(),
            order: RefCell::default(),
            shown: RefCell::default(),
            trees: RefCell::default(),
        })
    }

    pub(super) fn commit(&self, id: ObjectId) -> Result<Commit, WeaveError> {
        let data = self.read(id, Kind::Commit)?;
        let commit = CommitRef::from_bytes(&data, self.kind);
        let commit = commit.map_err(failed("understand commit", id))?;
        Ok(Commit {
            id,
            tree: commit.tree(),
            // Old tools wrote odd signatures, and nothing hangs on the date.
            seconds: commit
                .committer()
                .map_or(0, |committer| committer.seconds()),
            author: commit.author.to_vec(),
            message: commit.message.to_vec(),
            encoding: commit.encoding.map(|encoding| encoding.to_vec()),
        })
    }

    pub(super) fn commit_text(&self, id: ObjectId) -> Result<Rc<[u8]>, WeaveError> {
        self.read(id, Kind::Commit)
    }

    /// The entries of a folder; of none for no folder.
    pub(super) fn tree(&self, id: Option<ObjectId>) -> Result<Rc<Tree>, WeaveError> {
        let Some(id) = id.filter(|id| !id.is_empty_tree()) else {
            return Ok(Rc::default());
        };
        if let Some(known) = self.trees.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let data = self.read(id, Kind::Tree)?;
        let tree = gix_object::TreeRef::from_bytes(&data, self.kind);
        let mut tree = tree.map_err(failed("understand tree", id))?.into_owned();
        for entry in &mut tree.entries {
            // Old trees have modes that git reads as others, and writes as those.
            entry.mode = entry.mode.kind().into();
        }
        let tree = Rc::new(tree);
        let mut trees = self.trees.borrow_mut();
        if trees.len() >= MOST_TREES {
            trees.clear();
        }
        trees.insert(id, Rc::clone(&tree));
        Ok(tree)
    }

    pub(super) fn entry_at(
        &self,
        root: ObjectId,
        path: &[u8],
    ) -> Result<Option<Entry>, WeaveError> {
        let mut folder = Some(root);
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let tree = self.tree(folder)?;
            let Some(found) = tree.entries.iter().find(|entry| entry.filename == name) else {
                return Ok(None);
            };
            if names.peek().is_none() {
                return Ok(Some(found.clone()));
            }
            if !found.mode.is_tree() {
                return Ok(None);
            }
            folder = Some(found.oid);
        }
        Ok(None)
    }

    /// The tree with some leaves put or taken away; `None` when nothing is left.
    ///
    /// The changes are in the order of [`by_components`].
    pub(super) fn edited(
        &self,
        tree: Option<ObjectId>,
        changes: &[(&[u8], Option<TreeLeaf>)],
    ) -> Result<Option<ObjectId>, WeaveError> {
        let mut entries = self.tree(tree)?.entries.clone();
        for run in changes.chunk_by(|(one, _), (other, _)| first(one) == first(other)) {
            let name = first(run[0].0);
            let leaf = run.iter().find(|(path, _)| path.len() == name.len());
            let below: Vec<_> = run
                .iter()
                .filter(|(path, _)| path.len() > name.len())
                .map(|(path, leaf)| (&path[name.len() + 1..], *leaf))
                .collect();
            let position = entries.iter().position(|entry| entry.filename == name);
            let there = position.map(|position| entries.remove(position));
            let folder = there.as_ref().filter(|entry| entry.mode.is_tree());
            let mut now = there.clone();
            if let Some((_, leaf)) = leaf {
                now = leaf.map(|leaf| entry(name, leaf)).or(folder.cloned());
            }
            if !below.is_empty() {
                let folder = self.edited(folder.map(|entry| entry.oid), &below)?;
                let folder = folder.map(|id| {
                    let mode = gix_object::tree::EntryKind::Tree.into();
                    entry(name, TreeLeaf { mode, id })
                });
                let file = now.filter(|entry| !entry.mode.is_tree());
                now = folder.or(file);
            }
            entries.extend(now);
        }
        if entries.is_empty() {
            return Ok(None);
        }
        entries.sort();
        self.put_tree(Tree { entries }).map(Some)
    }

    pub(super) fn empty_tree(&self) -> Result<ObjectId, WeaveError> {
        self.put_tree(Tree::empty())
    }

    fn put_tree(&self, tree: Tree) -> Result<ObjectId, WeaveError> {
        let mut data = Vec::new();
        let null = self.kind.null();
        tree.write_to(&mut data)
            .map_err(failed("write tree", null))?;
        let id = self.put(Kind::Tree, data)?;
        self.trees.borrow_mut().insert(id, Rc::new(tree));
        Ok(id)
    }

    pub(super) fn file(&self, file: TreeLeaf) -> Result<Rc<[u8]>, WeaveError> {
        self.content(file.id)
    }

    pub(super) fn content(&self, file: ObjectId) -> Result<Rc<[u8]>, WeaveError> {
        self.read(file, Kind::Blob)
    }

    /// The length of an object that is stored; what it holds is not read.
    pub(super) fn size(&self, id: ObjectId) -> Result<u64, WeaveError> {
        let header = self.on_disk.try_header(&id);
        let header = header.map_err(failed("read object", id))?;
        let header = header.ok_or("it is missing");
        Ok(header.map_err(failed("read object", id))?.size)
    }

    pub(super) fn put(&self, kind: Kind, data: Vec<u8>) -> Result<ObjectId, WeaveError> {
        let id = gix_object::compute_hash(self.kind, kind, &data)
            .map_err(failed("name object", self.kind.null()))?;
        let mut fresh = self.fresh.borrow_mut();
        if fresh.insert(id, (kind, data.into())).is_none() {
            self.order.borrow_mut().push(id);
        }
        Ok(id)
    }

    /// Takes what git merged into memory: everything below a tree that only it wrote.
    pub(super) fn adopt(&self, tree: ObjectId) -> Result<(), WeaveError> {
        if !self.is_aside(tree) {
            return Ok(());
        }
        for entry in &self.tree(Some(tree))?.entries {
            if entry.mode.is_tree() {
                self.adopt(entry.oid)?;
            } else {
                self.adopt_file(TreeLeaf {
                    mode: entry.mode,
                    id: entry.oid,
                })?;
            }
        }
        let data = self.read(tree, Kind::Tree)?;
        self.put(Kind::Tree, data.to_vec()).map(drop)
    }

    /// Takes a file into memory if only git's own merges wrote it.
    pub(super) fn adopt_file(&self, file: TreeLeaf) -> Result<(), WeaveError> {
        if file.mode.is_commit() || !self.is_aside(file.id) {
            return Ok(());
        }
        let data = self.read(file.id, Kind::Blob)?;
        self.put(Kind::Blob, data.to_vec()).map(drop)
    }

    fn is_aside(&self, id: ObjectId) -> bool {
        !self.fresh.borrow().contains_key(&id) && self.aside.contains(&id)
    }

    /// Lets git see a tree and all below it.
    pub(super) fn show_tree(&self, tree: ObjectId) -> Result<(), WeaveError> {
        let mut hidden = HashSet::new();
        self.find_hidden(tree, &mut hidden)?;
        let hidden: Vec<ObjectId> = hidden.into_iter().collect();
        if hidden.len() < LEAST_FOR_A_PACK {
            return hidden.into_iter().try_for_each(|id| self.show(id));
        }
        // Otherwise git would open a file for each, merge after merge.
        let pack = self.pack_of(&hidden)?;
        let written = pack.write(self.aside.path(), &hidden);
        written.map_err(failed("write objects of", tree))?;
        self.shown.borrow_mut().extend(hidden);
        Ok(())
    }

    /// The objects at and below one that git does not see yet.
    fn find_hidden(&self, id: ObjectId, hidden: &mut HashSet<ObjectId>) -> Result<(), WeaveError> {
        let is_hidden = |id: &ObjectId| {
            self.fresh.borrow().contains_key(id) && !self.shown.borrow().contains(id)
        };
        if !is_hidden(&id) || !hidden.insert(id) {
            return Ok(());
        }
        for entry in &self.tree(Some(id))?.entries {
            if entry.mode.is_tree() {
                self.find_hidden(entry.oid, hidden)?;
            } else if is_hidden(&entry.oid) {
                hidden.insert(entry.oid);
            }
        }
        Ok(())
    }

    pub(super) fn show(&self, id: ObjectId) -> Result<(), WeaveError> {
        let fresh = self.fresh.borrow();
        let Some((kind, data)) = fresh.get(&id) else {
            return Ok(());
        };
        self.write_aside(id, *kind, data)
    }

    /// Writes an object for git's eyes only; it is not part of the result.
    pub(super) fn show_only(&self, kind: Kind, data: &[u8]) -> Result<ObjectId, WeaveError> {
        let null = self.kind.null();
        let id = gix_object::compute_hash(self.kind, kind, data).map_err(failed("name", null))?;
        self.write_aside(id, kind, data)?;
        Ok(id)
    }

    fn write_aside(&self, id: ObjectId, kind: Kind, data: &[u8]) -> Result<(), WeaveError> {
        if !self.shown.borrow_mut().insert(id) {
            return Ok(());
        }
        let mut deflater = self.deflater.borrow_mut();
        let written = deflater.write_file(self.aside.path(), id, kind, data);
        written.map_err(failed("write object", id))
    }

    /// Builds a tree for git's eyes only.
    pub(super) fn show_leaves(
        &self,
        leaves: &[(&[u8], Option<TreeLeaf>)],
    ) -> Result<ObjectId, WeaveError> {
        let mut entries = Vec::new();
        for run in leaves.chunk_by(|(one, _), (other, _)| first(one) == first(other)) {
            let name = first(run[0].0);
            match run {
                [(path, Some(leaf))] if path.len() == name.len() => {
                    self.show(leaf.id)?;
                    entries.push(entry(name, *leaf));
                }
                _ => {
                    let below: Vec<_> = run
                        .iter()
                        .map(|(path, leaf)| (&path[name.len() + 1..], *leaf))
                        .collect();
                    let id = self.show_leaves(&below)?;
                    let mode = gix_object::tree::EntryKind::Tree.into();
                    entries.push(entry(name, TreeLeaf { mode, id }));
                }
            }
        }
        entries.sort();
        let mut data = Vec::new();
        let null = self.kind.null();
        let written = Tree { entries }.write_to(&mut data);
        written.map_err(failed("write tree", null))?;
        self.show_only(Kind::Tree, &data)
    }

    /// How many objects would be in the pack.
    pub(super) fn count(&self) -> usize {
        self.order.borrow().len()
    }

    /// Everything that was taken into memory, as git packs it for the way.
    pub(super) fn pack(&self) -> Result<Vec<u8>, WeaveError> {
        Ok(self.pack_of(&self.order.borrow())?.bytes)
    }

    fn pack_of(&self, ids: &[ObjectId]) -> Result<Pack, WeaveError> {
        let fresh = self.fresh.borrow();
        let objects = ids.iter().map(|id| {
            let (kind, data) = &fresh[id];
            (*kind, data.as_ref())
        });
        let packed = self.deflater.borrow_mut().pack(self.kind, objects);
        packed.map_err(failed("pack objects", self.kind.null()))
    }

    fn read(&self, id: ObjectId, wanted: Kind) -> Result<Rc<[u8]>, WeaveError> {
        if let Some((kind, data)) = self.fresh.borrow().get(&id)
            && *kind == wanted
        {
            return Ok(Rc::clone(data));
        }
        let mut buffer = Vec::new();
        let found = self.on_disk.try_find(&id, &mut buffer);
        let found = found.map_err(failed("read object", id))?;
        match found.map(|object| object.kind) {
            Some(kind) if kind == wanted => Ok(buffer.into()),
            Some(_) => Err(failed("read object", id)("it has another type")),
            None => Err(failed("read object", id)("it is missing")),
        }
    }
}

fn entry(name: &[u8], leaf: TreeLeaf) -> Entry {
    Entry {
        mode: leaf.mode,
        filename: BString::from(name),
        oid: leaf.id,
    }
}

fn first(path: &[u8]) -> &[u8] {
    let end = path.iter().position(|byte| *byte == b'/');
    &path[..end.unwrap_or(path.len())]
}

/// An order that keeps what is below a folder together.
pub(super) fn by_components(one: &[u8], other: &[u8]) -> std::cmp::Ordering {
    one.split(|byte| *byte == b'/')
        .cmp(other.split(|byte| *byte == b'/'))
}
