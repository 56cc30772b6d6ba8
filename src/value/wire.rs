//! Values that the wire writes as text: their numbers, and their serde and schema.

/// The numbers of `NNNN-NN…`, each with exactly that many digits.
pub(super) fn number_parts<const N: usize>(text: &str, widths: [usize; N]) -> Option<[i16; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split('-');
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        let digits = part.len() == width && part.bytes().all(|b| b.is_ascii_digit());
        *number = digits.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Serde, schema and display of a value that is text in JSON: its method `text` writes it.
macro_rules! text_on_the_wire {
    ($type:ty, $name:literal, $schema:tt) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.text().as_str())
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text().as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}
pub(super) use text_on_the_wire;
