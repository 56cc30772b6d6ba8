//! Resources that a body names: those that are not there are told together.

use crate::api::prelude::*;

/// What was looked for and not found.
#[derive(Default)]
pub(crate) struct BodyReferences {
    missing: Vec<Violation>,
}

impl BodyReferences {
    /// The resource that the member at `pointer` names.
    pub(crate) fn find<T: Grow>(
        &mut self,
        world: &World,
        id: Id<T>,
        pointer: &'static str,
    ) -> Option<Arc<T>> {
        let found = world.find(id);
        if found.is_none() {
            let detail = format!("no {} of this key's world has this id", T::NAME);
            self.missing.push(Violation::new(pointer, "not_found", detail));
        }
        found
    }

    /// The 404 that names each.
    pub(crate) fn missing(self) -> ApiError {
        let detail = match self.missing.as_slice() {
            [one] => one.detail.clone(),
            many => format!("{} members name nothing of this key's world", many.len()),
        };
        ApiError::new(ErrorCode::ResourceNotFound, detail).with_errors(self.missing)
    }
}
