//! A list whose clones share its elements in chunks.
//!
//! An element is found in two steps: its chunk, then its place in the chunk. A write copies a chunk only if a clone shares it. A clone
//! copies one pointer for each chunk, so the owners of large lists share them behind one pointer.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The elements of a chunk.
const CHUNK: usize = 64;

/// All chunks are full except the last one, which is never empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    into = "Vec<T>",
    from = "Vec<T>",
    bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>")
)]
pub(crate) struct Chunks<T>(Vec<Arc<Vec<T>>>);

impl<T> Chunks<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Chunks<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * CHUNK + last.len())
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place / CHUNK)?.get(place % CHUNK)
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        own(self.0.get_mut(place / CHUNK)?).get_mut(place % CHUNK)
    }

    pub(crate) fn push(&mut self, element: T) {
        if let Some(last) = self.0.last_mut().filter(|last| last.len() < CHUNK) {
            return own(last).push(element);
        }
        let mut chunk = Vec::with_capacity(CHUNK);
        chunk.push(element);
        self.0.push(Arc::new(chunk));
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = own(self.0.last_mut()?);
        let element = last.pop();
        if last.is_empty() {
            self.0.pop();
        }
        element
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len()).map(|place| &self[place])
    }
}

impl<T> From<Vec<T>> for Chunks<T> {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Clone> From<Chunks<T>> for Vec<T> {
    fn from(list: Chunks<T>) -> Self {
        list.iter().cloned().collect()
    }
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A chunk that no clone shares.
fn own<T: Clone>(chunk: &mut Arc<Vec<T>>) -> &mut Vec<T> {
    if Arc::get_mut(chunk).is_none() {
        let mut copy = Vec::with_capacity(CHUNK);
        copy.extend_from_slice(chunk);
        *chunk = Arc::new(copy);
    }
    Arc::get_mut(chunk).expect("it is new, or was not shared")
}

impl<T> FromIterator<T> for Chunks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        let mut chunks = Vec::with_capacity(elements.size_hint().0.div_ceil(CHUNK));
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            chunk.extend(elements.by_ref().take(CHUNK));
            if chunk.is_empty() {
                return Self(chunks);
            }
            chunks.push(Arc::new(chunk));
        }
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.0[place / CHUNK][place % CHUNK]
    }
}

impl<T: Clone> IndexMut<usize> for Chunks<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut own(&mut self.0[place / CHUNK])[place % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_its_elements() {
        let mut list: Chunks<usize> = (0..200).collect();
        let copy = list.clone();
        list.push(200);
        list[3] = 1_000;
        *list.get_mut(199).expect("it is in the list") = 2_000;
        assert_eq!((list.len(), copy.len()), (201, 200));
        assert_eq!((list[3], list[199], list[200]), (1_000, 2_000, 200));
        assert!(copy.iter().copied().eq(0..200));
        assert!(list.get_mut(201).is_none());
    }

    #[test]
    fn elements_are_removed_from_the_end() {
        let mut list: Chunks<usize> = (0..130).collect();
        for left in (0..130).rev() {
            assert_eq!(list.pop(), Some(left));
            assert!(list.len() == left && list.iter().copied().eq(0..left));
        }
        assert_eq!(list.pop(), None);
        list.push(7);
        assert_eq!((list.len(), list[0]), (1, 7));
    }
}
