//! Subjects: people and businesses to verify.

use crate::api::business::companies::{AddressInput, Country};
use crate::api::prelude::*;
use crate::model::identity::subject::{IdNumber, PersonName};
use crate::model::identity::{KycStatus, RiskLevel, Subject, SubjectType};
use crate::value::{BirthDate, Email};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
    Operation {
        path: "/api/identity/subjects",
        summary: "List subjects",
        description: "Lists people and businesses to verify, in creation order.",
        ..operation!(read list_subjects)
    },
    Operation {
        path: "/api/identity/subjects",
        summary: "Register a subject",
        description: "Creates a subject. A person requires a `name`, a business a `legal_name`. A \
            business with a `company_id` represents that company: an approved verification \
            activates the company. A person with an `employee_id` represents that employee.",
        example: r#"{"type":"business","legal_name":"Lagos Bakery Ltd","country":"NG","company_id":"@company:1","id_numbers":[{"type":"rc_number","value":"RC1234567","country":"NG"}],"external_id":"bakery-1"}"#,
        success: 201,
        emits: &["subject.created"],
        ..operation!(write create_subject)
    },
    Operation {
        path: "/api/identity/subjects/{subject_id}",
        summary: "Read a subject",
        description: "Returns a subject with its `kyc_status`, the risk level of the latest \
            screening, and the latest trust score.",
        ..operation!(get get_subject: Subject)
    },
    Operation {
        method: Method::Patch,
        path: "/api/identity/subjects/{subject_id}",
        summary: "Update a subject",
        description: "Changes only the given members. If the name, the address or an id number of \
            an `approved` subject changes, the subject becomes `reverify_required`. If a case is \
            being decided, this happens when the case approves the subject.",
        example: r#"{"phone":"+2348000000000"}"#,
        emits: &["subject.updated"],
        ..operation!(write update_subject)
    },
]);

list! {
    fn list_subjects(ListSubjects) -> Subject;
    filter
        company_id: Id<Company>,
        /// Filter by type: people or businesses.
        kind as "type": SubjectType,
        /// Filter by status.
        kyc_status: KycStatus = status,
        /// Filter by the caller's own id.
        external_id: Text<200>;
    sort created_at, external_id;
}

/// A new subject.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateSubject {
    /// A person or a business.
    #[serde(rename = "type")]
    kind: SubjectType,
    /// A person's name; required for a person.
    name: Option<NameInput>,
    /// A business's registered name; required for a business.
    legal_name: Option<Text<200>>,
    /// A person's date of birth, from 1900 and not in the future.
    date_of_birth: Option<BirthDate>,
    /// Country of residence or registration, ISO 3166-1 alpha-2.
    country: Country,
    /// Identification numbers, up to 10.
    #[schemars(length(max = 10))]
    id_numbers: Option<Vec<IdNumberInput>>,
    /// An e-mail address.
    email: Option<Email>,
    /// A telephone number.
    phone: Option<Text<32>>,
    /// The address of the person or business.
    address: Option<AddressInput>,
    /// The company that the business represents, or to which the person belongs.
    company_id: Option<Id<Company>>,
    /// The employee, if the person is one; must belong to `company_id` if that is given.
    employee_id: Option<Id<Employee>>,
    /// The caller's own id of the subject.
    external_id: Option<Text<200>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// A person's name.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PersonNameInput")]
pub(crate) struct NameInput {
    /// Given names.
    first: Text<100>,
    /// The family name.
    last: Text<100>,
}

impl NameInput {
    fn kept(self) -> PersonName {
        PersonName { first: self.first.into_string(), last: self.last.into_string() }
    }
}

/// An identification number issued by an authority.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "IdNumberInput")]
pub(crate) struct IdNumberInput {
    /// The kind of number: `bvn`, `nin`, `ssn`, `rc_number` …
    #[serde(rename = "type")]
    kind: Text<40>,
    /// The number, in the format of the authority.
    value: Text<64>,
    /// The issuing country, ISO 3166-1 alpha-2.
    country: Country,
}

fn id_numbers(given: Option<Vec<IdNumberInput>>) -> Vec<IdNumber> {
    let kept = given.into_iter().flatten().map(|number| IdNumber {
        kind: number.kind.into_string(),
        value: number.value.into_string(),
        country: number.country.0,
    });
    kept.collect()
}

fn create_subject(world: &mut World, input: CreateSubject) -> Result<Single<Subject>> {
    let company = input.company_id.map(|id| existing(world, id, "/company_id")).transpose()?;
    let employee = input.employee_id.map(|id| existing(world, id, "/employee_id"));
    let employee = employee.transpose()?;
    let mut wrong = name_faults(input.kind, input.name.is_some(), input.legal_name.is_some());
    wrong.extend(only_of_people(&input, world.today()));
    if let (Some(company), Some(employee)) = (&company, &employee)
        && employee.company_id != company.id
    {
        let detail = format!(
            "{} is employed by {}, not by {}",
            employee.id, employee.company_id, company.id
        );
        wrong.push(Violation::new("/employee_id", "foreign_employee", detail));
    }
    ApiError::if_any(wrong)?;
    let company = company.map(|company| company.id);
    let company = company.or(employee.as_ref().map(|employee| employee.company_id));
    let now = world.now();
    let subject = Subject {
        id: world.next_id(company.map_or(0, Id::bits)),
        company_id: company,
        employee_id: employee.map(|employee| employee.id),
        kind: input.kind,
        name: input.name.map(NameInput::kept),
        legal_name: input.legal_name.map(Text::into_string),
        date_of_birth: input.date_of_birth,
        country: input.country.0,
        id_numbers: id_numbers(input.id_numbers),
        email: input.email.map(|email| email.as_str().to_owned()),
        phone: input.phone.map(Text::into_string),
        address: input.address.map(AddressInput::kept),
        external_id: input.external_id.map(Text::into_string),
        status: KycStatus::Unverified,
        level: None,
        risk_level: RiskLevel::Unknown,
        changed: false,
        trust: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(KycStatus::Unverified, now)].into(),
    };
    Ok(Data(Shown(world.record("subject.created", subject))))
}

fn name_faults(kind: SubjectType, name: bool, legal_name: bool) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let (needed, other) = match kind {
        SubjectType::Person => (("/name", name), ("/legal_name", legal_name)),
        SubjectType::Business => (("/legal_name", legal_name), ("/name", name)),
    };
    let who = match kind {
        SubjectType::Person => "a person",
        SubjectType::Business => "a business",
    };
    if !needed.1 {
        let detail = format!("{who} requires this member");
        wrong.push(Violation::new(needed.0, "required", detail));
    }
    if other.1 {
        let detail = format!("{who} must not have this member");
        wrong.push(Violation::new(other.0, "unexpected", detail));
    }
    wrong
}

fn only_of_people(input: &CreateSubject, today: Date) -> Vec<Violation> {
    let mut wrong = Vec::new();
    if input.kind == SubjectType::Business {
        let members = [
            ("/date_of_birth", input.date_of_birth.is_some()),
            ("/employee_id", input.employee_id.is_some()),
        ];
        for (pointer, _) in members.iter().filter(|(_, present)| *present) {
            wrong.push(Violation::new(
                *pointer,
                "unexpected",
                "a business must not have this member",
            ));
        }
    } else if input.date_of_birth.is_some_and(|born| born.day() > today) {
        let detail = format!("must not be in the future (today is {today})");
        wrong.push(Violation::new("/date_of_birth", "in_the_future", detail));
    }
    wrong
}

/// Changes to a subject.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct UpdateSubject {
    /// The subject.
    subject_id: Id<Subject>,
    /// A person's complete name.
    name: Option<NameInput>,
    /// A business's registered name.
    legal_name: Option<Text<200>>,
    /// The complete new address.
    #[serde(default)]
    address: Change<AddressInput>,
    /// A telephone number.
    #[serde(default)]
    phone: Change<Text<32>>,
    /// An e-mail address.
    #[serde(default)]
    email: Change<Email>,
    /// The identification numbers, up to 10; replaces the whole list.
    #[schemars(length(max = 10))]
    id_numbers: Option<Vec<IdNumberInput>>,
    /// Replaces all key-value pairs.
    #[serde(default)]
    metadata: Change<Metadata>,
}

fn update_subject(world: &mut World, input: UpdateSubject) -> Result<Single<Subject>> {
    let before = world.get(input.subject_id)?;
    let foreign = match before.kind {
        SubjectType::Person => input.legal_name.is_some().then_some("/legal_name"),
        SubjectType::Business => input.name.is_some().then_some("/name"),
    };
    if let Some(pointer) = foreign {
        let detail = "this type of subject must not have this member";
        return Err(ApiError::of_member(pointer, "unexpected", detail));
    }
    let mut subject = (*before).clone();
    if let Some(name) = input.name {
        subject.name = Some(name.kept());
    }
    if let Some(name) = input.legal_name {
        subject.legal_name = Some(name.into_string());
    }
    input.address.apply(&mut subject.address, AddressInput::kept);
    input.phone.apply(&mut subject.phone, Text::into_string);
    input.email.apply(&mut subject.email, |email| email.as_str().to_owned());
    if input.id_numbers.is_some() {
        subject.id_numbers = id_numbers(input.id_numbers);
    }
    input.metadata.apply_or_empty(&mut subject.metadata);
    let material = material(&before, &subject);
    let changed = material
        || (&before.phone, &before.email, &before.metadata)
            != (&subject.phone, &subject.email, &subject.metadata);
    if !changed {
        return Ok(Data(Shown(before)));
    }
    let now = world.now();
    subject.updated_at = now;
    subject.changed |= material;
    if material && subject.status == KycStatus::Approved {
        subject.outdate(now);
    }
    Ok(Data(Shown(world.record("subject.updated", subject))))
}

/// Stages a subject that a case, a screening or a score has changed. A change that callers see has its own event.
pub(crate) fn update(world: &mut World, before: &Subject, subject: Subject) {
    let seen = |one: &Subject| (one.status, one.level, one.risk_level, one.trust);
    if seen(before) == seen(&subject) {
        world.stage(subject);
    } else {
        world.record("subject.updated", subject);
    }
}

/// Whether verified data differs.
fn material(before: &Subject, after: &Subject) -> bool {
    before.name != after.name
        || before.legal_name != after.legal_name
        || before.address != after.address
        || before.id_numbers != after.id_numbers
}

/// The subjects of a company, in creation order.
pub(crate) fn of_company(
    world: &World,
    company: Id<Company>,
) -> impl DoubleEndedIterator<Item = Arc<Subject>> {
    world.children::<Subject>(company.bits()).filter_map(|id| world.find(id))
}

/// The business subjects of a company: the company itself, for its verification.
pub(crate) fn businesses(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<Subject>> {
    of_company(world, company).filter(|subject| subject.kind == SubjectType::Business)
}

/// Whether a business subject of the company is approved now.
pub(crate) fn kyb_approved(world: &World, company: Id<Company>) -> bool {
    businesses(world, company).any(|subject| subject.status == KycStatus::Approved)
}
