//! QuickFIX data dictionaries: XML that names fields, messages, components and groups.

use super::Dictionary;
use roxmltree::{Document, Node};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Why a data dictionary cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BadDictionary {
    /// It is not XML.
    #[error("{0}")]
    NotXml(#[from] roxmltree::Error),
    /// Its root is another element.
    #[error("line {line}: not a QuickFIX data dictionary: <{root}> instead of <fix>")]
    NotFix {
        /// The root's line.
        line: u32,
        /// The root's name.
        root: String,
    },
    /// A field has no tag, or a reference names a field that does not exist.
    #[error("line {line}: {what}")]
    Field {
        /// The line of the element.
        line: u32,
        /// The problem.
        what: String,
    },
}

pub(super) fn load(dictionary: &mut Dictionary, xml: &str) -> Result<(), BadDictionary> {
    super::bounds::check(xml)?;
    let document = Document::parse(xml)?;
    let root = document.root_element();
    if root.tag_name().name() != "fix" {
        return Err(BadDictionary::NotFix {
            line: line(root),
            root: root.tag_name().name().into(),
        });
    }
    let mut loading = Loading {
        dictionary,
        tags: BTreeMap::new(),
        components: BTreeMap::new(),
        groups: BTreeMap::new(),
        members: 0,
    };
    for section in elements(root).filter(|section| named(*section, "fields")) {
        loading.fields(section)?;
    }
    for section in elements(root).filter(|section| named(*section, "components")) {
        for component in elements(section) {
            loading
                .components
                .insert(attribute(component, "name")?, component);
        }
    }
    for section in elements(root) {
        match section.tag_name().name() {
            "header" | "trailer" => loading.members(section, None, 0)?,
            "messages" => loading.messages(section)?,
            _ => {}
        }
    }
    for (group, members) in loading.groups {
        loading.dictionary.add_members(group, members.into_iter());
    }
    Ok(())
}

struct Loading<'d, 'x> {
    dictionary: &'d mut Dictionary,
    tags: BTreeMap<&'x str, u32>,
    components: BTreeMap<&'x str, Node<'x, 'x>>,
    groups: BTreeMap<u32, BTreeSet<u32>>,
    /// Members visited so far: components stand for theirs wherever they are named.
    members: usize,
}

impl<'x> Loading<'_, 'x> {
    fn fields(&mut self, section: Node<'x, 'x>) -> Result<(), BadDictionary> {
        let mut kinds = Vec::new();
        for field in elements(section) {
            let name = attribute(field, "name")?;
            let number = attribute(field, "number")?;
            let tag: u32 = number
                .parse()
                .ok()
                .filter(|&tag| tag > 0)
                .ok_or_else(|| bad(field, format!("{number:?} is no tag")))?;
            let kind = field.attribute("type").unwrap_or("STRING");
            kinds.push((tag, name, kind));
            self.tags.insert(name, tag);
            let mut text = format!("{tag}\t{name}\t{kind}\t");
            for value in elements(field) {
                let known = attribute(value, "enum")?;
                let meaning = value.attribute("description").unwrap_or_default();
                text.push_str(&format!("\t{known}={meaning}"));
            }
            self.dictionary.set_field(tag, Cow::Owned(text));
        }
        for (tag, name, kind) in kinds {
            if !matches!(kind, "DATA" | "XMLDATA") {
                continue;
            }
            let length = ["Len", "Length"]
                .iter()
                .find_map(|ending| self.tags.get(format!("{name}{ending}").as_str()));
            if let Some(&length) = length {
                self.dictionary.set_length(length, tag);
            }
        }
        Ok(())
    }

    fn messages(&mut self, section: Node<'x, 'x>) -> Result<(), BadDictionary> {
        for message in elements(section) {
            let kind = attribute(message, "msgtype")?.as_bytes().to_vec();
            let name = attribute(message, "name")?.to_owned();
            self.dictionary
                .set_message(Cow::Owned(kind), Cow::Owned(name));
            self.members(message, None, 0)?;
        }
        Ok(())
    }

    /// Adds the members of a message, group or component to the enclosing group.
    fn members(
        &mut self,
        parent: Node<'x, 'x>,
        group: Option<u32>,
        depth: usize,
    ) -> Result<(), BadDictionary> {
        if depth > DEPTH_MAX {
            return Err(bad(parent, "components and groups nest too deep".into()));
        }
        let deeper = depth.saturating_add(1);
        for child in elements(parent) {
            self.members = self.members.saturating_add(1);
            if self.members > MEMBERS_MAX {
                let what = format!("components stand for more than {MEMBERS_MAX} members in all");
                return Err(bad(child, what));
            }
            let name = attribute(child, "name")?;
            if named(child, "component") {
                let Some(&component) = self.components.get(name) else {
                    return Err(bad(child, format!("there is no component {name:?}")));
                };
                self.members(component, group, deeper)?;
                continue;
            }
            let Some(&tag) = self.tags.get(name) else {
                return Err(bad(child, format!("there is no field {name:?}")));
            };
            if let Some(group) = group {
                self.groups.entry(group).or_default().insert(tag);
            }
            if named(child, "group") {
                self.members(child, Some(tag), deeper)?;
            }
        }
        Ok(())
    }
}

/// Nesting of components and groups; dictionaries in use reach about eight levels.
const DEPTH_MAX: usize = 32;

/// Members of all messages, components taken apart; dictionaries in use reach some 100,000. Without
/// a limit, components that each name the next one twice would stand for 2^[`DEPTH_MAX`].
const MEMBERS_MAX: usize = 1 << 22;

fn elements<'x>(parent: Node<'x, 'x>) -> impl Iterator<Item = Node<'x, 'x>> {
    parent.children().filter(Node::is_element)
}

fn named(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

fn attribute<'x>(node: Node<'x, 'x>, name: &str) -> Result<&'x str, BadDictionary> {
    node.attribute(name)
        .ok_or_else(|| bad(node, format!("<{}> has no {name}", node.tag_name().name())))
}

fn bad(node: Node<'_, '_>, what: String) -> BadDictionary {
    BadDictionary::Field {
        line: line(node),
        what,
    }
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

#[cfg(test)]
mod tests {
    use crate::Dictionary;

    /// A dictionary replaces the entries it defines and keeps the others.
    #[test]
    fn a_dictionary_is_loaded_on_top() {
        let mut dictionary = Dictionary::bundled();
        let xml = "<fix><header/><messages><message name='Desk' msgtype='U1'>
            <group name='NoDesks'><field name='Side'/><component name='More'/></group>
            </message></messages><components><component name='More'><field name='DeskBlob'/>
            </component></components><fields>
            <field number='54' name='Side' type='CHAR'>
            <value enum='1' description='PURCHASE'/></field>
            <field number='9001' name='NoDesks' type='NUMINGROUP'/>
            <field number='9002' name='DeskBlobLen' type='LENGTH'/>
            <field number='9003' name='DeskBlob' type='DATA'/></fields></fix>";
        dictionary.load_quickfix(xml).unwrap();
        assert_eq!(
            dictionary.field(54).unwrap().meaning(b"1"),
            Some("PURCHASE")
        );
        assert_eq!(dictionary.message(b"U1"), Some("Desk"));
        assert_eq!(dictionary.message(b"D"), Some("NewOrderSingle"));
        assert_eq!(dictionary.members(9001), Some(&[54, 9003][..]));
        assert_eq!(dictionary.data_of(9002), Some(9003));
    }

    /// An error names the line, so that the author can find it.
    #[test]
    fn errors_name_their_line() {
        let mut dictionary = Dictionary::default();
        let xml = "<fix>\n<messages>\n<message name='A' msgtype='A'>\n<field name='B'/>\n\
            </message></messages><fields/></fix>";
        let error = dictionary.load_quickfix(xml).unwrap_err().to_string();
        assert_eq!(error, "line 4: there is no field \"B\"");
        assert!(dictionary.load_quickfix("<fix>").is_err());
        let error = dictionary.load_quickfix("<a/>").unwrap_err().to_string();
        assert!(error.contains("<a>"));
    }

    /// Components that double at each level are refused before they have filled the day.
    #[test]
    fn components_that_multiply_are_refused() {
        let levels: String = (0..31)
            .map(|level| {
                let next = format!("<component name='C{}'/>", level + 1);
                format!("<component name='C{level}'>{next}{next}</component>")
            })
            .collect();
        let xml = format!(
            "<fix><messages><message name='A' msgtype='A'><component name='C0'/></message>\
             </messages><components>{levels}<component name='C31'/></components><fields/></fix>"
        );
        let error = Dictionary::default().load_quickfix(&xml).unwrap_err();
        assert!(error.to_string().contains("members in all"), "{error}");
    }

    /// A component that contains itself is refused instead of followed without end.
    #[test]
    fn a_component_within_itself_is_refused() {
        let xml = "<fix><messages><message name='A' msgtype='A'><component name='C'/></message>
            </messages><components><component name='C'><component name='C'/></component>
            </components><fields/></fix>";
        assert!(Dictionary::default().load_quickfix(xml).is_err());
    }
}
