//! Names of labels.

use super::Label;
use std::collections::HashMap;

/// The label names of one program; labels without a name are numbered only.
#[derive(Default, Clone, Debug)]
pub struct Symbols {
    names: Vec<Option<String>>,
    by_name: HashMap<String, Label>,
}

impl Symbols {
    /// The label called `name`, made on first use.
    pub fn named(&mut self, name: &str) -> Label {
        if let Some(&label) = self.by_name.get(name) {
            return label;
        }
        let label = Label(self.names.len() as u32);
        self.names.push(Some(name.to_string()));
        self.by_name.insert(name.to_string(), label);
        label
    }

    /// A new label without a name.
    pub fn fresh(&mut self) -> Label {
        self.names.push(None);
        Label(self.names.len() as u32 - 1)
    }

    /// The label called `name`, if there is one.
    pub fn lookup(&self, name: &str) -> Option<Label> {
        self.by_name.get(name).copied()
    }

    /// The name of `label`, or a number for labels without one.
    pub fn name(&self, label: Label) -> String {
        match self.names.get(label.0 as usize) {
            Some(Some(name)) => name.clone(),
            _ => format!(".{}", label.0),
        }
    }

    /// All named labels.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Label)> {
        self.by_name.iter().map(|(name, &label)| (name.as_str(), label))
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True when no label was made.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
