//! Resources named in a body: all that do not exist are reported together.

use crate::api::prelude::*;

/// The references that were not found.
#[derive(Default)]
pub(crate) struct BodyReferences {
    missing: Vec<Violation>,
}

impl BodyReferences {
    /// The resource named by the member at `pointer`.
    pub(crate) fn find<T: Grow>(
        &mut self,
        world: &World,
        id: Id<T>,
        pointer: &'static str,
    ) -> Option<Arc<T>> {
        let found = world.find(id);
        if found.is_none() {
            let detail = format!("no {} with this id exists in this key's world", T::NAME);
            self.missing.push(Violation::new(pointer, "not_found", detail));
        }
        found
    }

    /// The 404 that lists each of them.
    pub(crate) fn missing(self) -> ApiError {
        let detail = match self.missing.as_slice() {
            [one] => one.detail.clone(),
            many => format!(
                "{} members name resources that do not exist in this key's world",
                many.len()
            ),
        };
        ApiError::new(ErrorCode::ResourceNotFound, detail).with_errors(self.missing)
    }
}
