//! The members that every resource has, declared once.

/// Declares a resource with its own members. Before them come `id` and `object`, after them the instants and the metadata.
///
/// ```text
/// resource! {
///     /// A loan to a company.
///     Loan: LoanStatus {
///         /// The company that owes it.
///         company_id: Id<Company>,
///         …
///     }
/// }
/// ```
///
/// If the standard members have another meaning in a resource, it declares its struct without this macro.
macro_rules! resource {
    ($(#[$about:meta])* $name:ident: $status:ident { $($(#[$doc:meta])* $member:ident: $type:ty,)* }) => {
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$about])*
        pub(crate) struct $name {
            /// The resource's id.
            pub(crate) id: $crate::value::Id<$name>,
            /// The resource's type.
            pub(crate) object: $crate::model::Object<$name>,
            $($(#[$doc])* pub(crate) $member: $type,)*
            /// When it was created, in virtual time.
            pub(crate) created_at: $crate::value::Timestamp,
            /// When it last changed, in virtual time.
            pub(crate) updated_at: $crate::value::Timestamp,
            /// Key-value pairs set by the caller.
            pub(crate) metadata: $crate::value::Metadata,
            /// Every status the resource has had, oldest first.
            pub(crate) status_history: $crate::model::StatusHistory<$status>,
        }

        $crate::model::lifecycle::stateful!($name: $status);
    };
}
pub(crate) use resource;

/// Declares the wire form of a resource that is stored in another form. A member without a value is the stored member
/// of the same name. `id` and `object` come first.
macro_rules! shown {
    (
        $(#[$about:meta])*
        $shape:ident<$life:lifetime> of $resource:ident, |$it:ident| {
            $($(#[$doc:meta])* $member:ident: $type:ty $(= $value:expr)?;)*
        }
    ) => {
        #[derive(serde::Serialize, schemars::JsonSchema)]
        $(#[$about])*
        pub(crate) struct $shape<$life> {
            /// The resource's id.
            id: $crate::value::Id<$resource>,
            /// The resource's type.
            object: $crate::model::Object<$resource>,
            $($(#[$doc])* $member: $type,)*
        }

        impl $crate::model::Wire for $resource {
            type Shape<$life> = $shape<$life>;

            fn wire(&self) -> $shape<'_> {
                let $it = self;
                $shape {
                    id: $it.id,
                    object: $crate::model::Object::NAME,
                    $($member: $crate::model::resource::shown!(@value $it.$member $(, $value)?),)*
                }
            }
        }
    };
    (@value $stored:expr) => { $stored };
    (@value $stored:expr, $value:expr) => { $value };
}
pub(crate) use shown;
