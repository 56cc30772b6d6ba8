//! Subjects: people and businesses who are to be verified.

use crate::api::business::companies::{AddressInput, Country, named};
use crate::api::prelude::*;
use crate::model::business::Employee;
use crate::model::identity::subject::{IdNumber, PersonName};
use crate::model::identity::{KycStatus, RiskLevel, Subject, SubjectType};
use crate::value::{BirthDate, Email};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/identity/subjects",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "List subjects",
        description: "People and businesses who are to be verified, in creation order. Nobody of the world's start is one.",
        ..operation!(read list_subjects)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/subjects",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Register a subject",
        description: "A person has a `name`, a business a `legal_name`. A business with a `company_id` is that company: its approved \
            verification activates it. A person with an `employee_id` is that employee.",
        example: r#"{"type":"business","legal_name":"Lagos Bakery Ltd","country":"NG","company_id":"@company:1","id_numbers":[{"type":"rc_number","value":"RC1234567","country":"NG"}],"external_id":"bakery-1"}"#,
        success: 201,
        emits: &["subject.created"],
        ..operation!(write create_subject)
    },
    Operation {
        method: Method::Get,
        path: "/api/identity/subjects/{subject_id}",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Read a subject",
        description: "With `kyc_status`, what the last screening made of them, and the latest trust score.",
        ..operation!(read get_subject)
    },
    Operation {
        method: Method::Patch,
        path: "/api/identity/subjects/{subject_id}",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Correct a subject",
        description: "Changes only what is sent. Another name, address or id number of an `approved` subject makes it \
            `reverify_required`, at once or, where a case is being decided, once that approves it.",
        example: r#"{"phone":"+2348000000000"}"#,
        emits: &["subject.updated"],
        ..operation!(write update_subject)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListSubjects {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Subject>>,
    /// Only people, or only businesses.
    #[serde(rename = "type")]
    kind: Option<SubjectType>,
    /// Only those that stand there.
    kyc_status: Option<KycStatus>,
    /// Only those that the caller knows by that name.
    external_id: Option<Text<200>>,
}

impl Sortable for Subject {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |subject| SortKey::Number(subject.created_at.millis())),
        ("external_id", |subject| SortKey::Text(subject.external_id.clone().unwrap_or_default())),
    ];
}

fn list_subjects(world: &World, input: ListSubjects) -> Result<List<Shown<Subject>>, ApiError> {
    let candidates = Candidates::new(0, |_| None, world.created());
    if input.kind.is_none() && input.kyc_status.is_none() && input.external_id.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let external = input.external_id.as_ref().map(Text::as_str);
    let keep = |subject: &Subject| {
        is(input.kind.as_ref(), &subject.kind)
            && is(input.kyc_status.as_ref(), &subject.status)
            && (external.is_none() || subject.external_id.as_deref() == external)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

/// What a caller may say about a new subject.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateSubject {
    /// A person or a business.
    #[serde(rename = "type")]
    kind: SubjectType,
    /// A person's name; required of a person.
    name: Option<NameInput>,
    /// A business's registered name; required of a business.
    legal_name: Option<Text<200>>,
    /// Of a person; from 1900 on, and not in the future.
    date_of_birth: Option<BirthDate>,
    /// Of residence or registration, ISO 3166-1 alpha-2.
    country: Country,
    /// Numbers that offices gave them, up to 10.
    #[schemars(length(max = 10))]
    id_numbers: Option<Vec<IdNumberInput>>,
    /// An e-mail address.
    email: Option<Email>,
    /// A telephone number.
    phone: Option<Text<32>>,
    /// The address.
    address: Option<AddressInput>,
    /// The company that a business is, or that a person belongs to.
    company_id: Option<Id<Company>>,
    /// The employee that a person is; of `company_id`, where that is sent.
    employee_id: Option<Id<Employee>>,
    /// The caller's own name for them.
    external_id: Option<Text<200>>,
    /// The caller's own pairs.
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

/// A number that an office gave somebody.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "IdNumberInput")]
pub(crate) struct IdNumberInput {
    /// What kind of number it is: `bvn`, `nin`, `ssn`, `rc_number` …
    #[serde(rename = "type")]
    kind: Text<40>,
    /// The number.
    value: Text<64>,
    /// Whose office gave it, ISO 3166-1 alpha-2.
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

fn create_subject(
    world: &mut World,
    input: CreateSubject,
) -> Result<Data<Shown<Subject>>, ApiError> {
    let company = input.company_id.map(|id| named(world, id)).transpose()?;
    let employee = input.employee_id.map(|id| employee_named(world, id));
    let employee = employee.transpose()?;
    let mut wrong = name_faults(input.kind, input.name.is_some(), input.legal_name.is_some());
    wrong.extend(only_of_people(&input, world.today()));
    if let (Some(company), Some(employee)) = (&company, &employee)
        && employee.company_id != company.id
    {
        let detail = format!("{} is employed by {}", employee.id, employee.company_id);
        wrong.push(Violation::new("/employee_id", "foreign_employee", detail));
    }
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
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
        status_history: vec![StatusChange::plain(KycStatus::Unverified, now)],
    };
    Ok(Data(Shown(world.record("subject.created", subject))))
}

/// The employee a body names, who must exist.
fn employee_named(world: &World, id: Id<Employee>) -> Result<Arc<Employee>, ApiError> {
    world.get(id).map_err(|error| {
        let detail = "no employee of this key's world has this id";
        error.with_errors(vec![Violation::new("/employee_id", "not_found", detail)])
    })
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
        let detail = format!("{who} has one");
        wrong.push(Violation::new(needed.0, "required", detail));
    }
    if other.1 {
        let detail = format!("{who} has none");
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
            wrong.push(Violation::new(*pointer, "unexpected", "a business has none"));
        }
    } else if input.date_of_birth.is_some_and(|born| born.day() > today) {
        let detail = format!("this day lies ahead: today is {today}");
        wrong.push(Violation::new("/date_of_birth", "in_the_future", detail));
    }
    wrong
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneSubject {
    /// The subject.
    subject_id: Id<Subject>,
}

fn get_subject(world: &World, input: OneSubject) -> Result<Data<Shown<Subject>>, ApiError> {
    show(world, input.subject_id)
}

/// What a caller may correct of a subject.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct UpdateSubject {
    /// The subject.
    subject_id: Id<Subject>,
    /// A person's whole name.
    name: Option<NameInput>,
    /// A business's registered name.
    legal_name: Option<Text<200>>,
    /// The whole address.
    address: Option<AddressInput>,
    /// A telephone number.
    phone: Option<Text<32>>,
    /// An e-mail address.
    email: Option<Email>,
    /// All numbers, up to 10: they replace those that were there.
    #[schemars(length(max = 10))]
    id_numbers: Option<Vec<IdNumberInput>>,
    /// Replaces all pairs.
    metadata: Option<Metadata>,
}

fn update_subject(
    world: &mut World,
    input: UpdateSubject,
) -> Result<Data<Shown<Subject>>, ApiError> {
    let before = world.get(input.subject_id)?;
    let foreign = match before.kind {
        SubjectType::Person => input.legal_name.is_some().then_some("/legal_name"),
        SubjectType::Business => input.name.is_some().then_some("/name"),
    };
    if let Some(pointer) = foreign {
        let detail = "this kind of subject has none";
        return Err(ApiError::of_member(pointer, "unexpected", detail));
    }
    let mut subject = (*before).clone();
    if let Some(name) = input.name {
        subject.name = Some(name.kept());
    }
    if let Some(name) = input.legal_name {
        subject.legal_name = Some(name.into_string());
    }
    if let Some(address) = input.address {
        subject.address = Some(address.kept());
    }
    if let Some(phone) = input.phone {
        subject.phone = Some(phone.into_string());
    }
    if let Some(email) = input.email {
        subject.email = Some(email.as_str().to_owned());
    }
    if input.id_numbers.is_some() {
        subject.id_numbers = id_numbers(input.id_numbers);
    }
    if let Some(metadata) = input.metadata {
        subject.metadata = metadata;
    }
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

/// Whether what a verification looks at differs.
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

/// The subjects of a company that are businesses: the company itself, as it is verified.
pub(crate) fn businesses(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<Subject>> {
    of_company(world, company).filter(|subject| subject.kind == SubjectType::Business)
}

/// Whether it is known what business a company is: a subject of it, a business, is approved now.
pub(crate) fn kyb_approved(world: &World, company: Id<Company>) -> bool {
    businesses(world, company).any(|subject| subject.status == KycStatus::Approved)
}
