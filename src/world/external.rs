//! The caller's own ids: `metadata.external_id` of companies, employees and subjects, and `@ext:…`, which refers to them.
//!
//! Deliberately absent: an index. A reference is rare, and only resources that were created or changed have such an id.

use crate::model::business::{Company, Employee};
use crate::model::identity::Subject;
use crate::model::{AnyId, Kind};
use crate::value::Metadata;
use crate::value::diagnostic::nearest;
use crate::world::facts::{EXTERNAL, kind_named};
use crate::world::{Grow, World};

/// The member of the metadata.
pub(crate) const EXTERNAL_ID: &str = "external_id";
/// The kinds of resources that have such ids.
pub(crate) const KINDS: [Kind; 3] = [Kind::Company, Kind::Employee, Kind::Subject];

/// A caller's own id, and the resource that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct External {
    pub(crate) external_id: String,
    pub(crate) id: AnyId,
}

impl World {
    /// All ids of callers: by kind, and for each kind first the created resources in order.
    pub(crate) fn externals(&self) -> impl Iterator<Item = External> {
        let companies = self.external_of::<Company>(|company| &company.metadata);
        let employees = self.external_of::<Employee>(|employee| &employee.metadata);
        let subjects = self.external_of::<Subject>(|subject| &subject.metadata);
        companies.chain(employees).chain(subjects)
    }

    fn external_of<T: Grow>(
        &self,
        metadata: impl Fn(&T) -> &Metadata,
    ) -> impl Iterator<Item = External> {
        let grown = self.changed::<T>().map(|index| self.base().id_at::<T>(index));
        self.created::<T>().chain(grown).filter_map(move |id| {
            let resource = self.touched(id)?;
            let external_id = metadata(&resource).pairs().get(EXTERNAL_ID)?.clone();
            Some(External { external_id, id: AnyId::of(id) })
        })
    }

    /// The resource of a reference, without `@ext:`. The error describes why it cannot be found.
    pub(crate) fn external(&self, name: &str) -> Result<AnyId, String> {
        let split = name.split_once(':').and_then(|(kind, id)| Some((kind_named(kind)?, id)));
        let of_kind = split.filter(|(kind, _)| KINDS.contains(kind));
        let (kind, wanted) = of_kind.map_or((None, name), |(kind, id)| (Some(kind), id));
        let mut found = self
            .externals()
            .filter(|it| it.external_id == wanted && kind.is_none_or(|kind| kind == it.id.kind));
        let first = found.next().ok_or_else(|| self.no_external(name, wanted))?;
        match found.next() {
            None => Ok(first.id),
            Some(other) => {
                // Two resources of a kind have the same id, so no reference can distinguish them.
                let advice = if first.id.kind == other.id.kind {
                    format!("give one of them another {EXTERNAL_ID}, or use the id")
                } else {
                    format!("name the kind, such as @{EXTERNAL}:{}:{wanted}", first.id.kind.name())
                };
                Err(format!(
                    "@{EXTERNAL}:{name} refers to several resources, {} and {}: {advice}",
                    first.id, other.id,
                ))
            }
        }
    }

    fn no_external(&self, name: &str, wanted: &str) -> String {
        let known: Vec<String> = self.externals().map(|it| it.external_id).collect();
        let near = nearest(wanted, known.iter().map(String::as_str));
        let near =
            near.map_or_else(String::new, |near| format!("; did you mean @{EXTERNAL}:{near}"));
        format!("@{EXTERNAL}:{name} refers to no resource of this world{near}")
    }
}
