//! Edges packed by their first node, for graphs of a hundred thousand tasks.
//!
//! Knows numbers, not tasks.

/// For each node the nodes it points to, in the order they were given.
#[derive(Debug, Clone)]
pub struct Edges {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    pub fn from_pairs(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in pairs {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut filled = starts.clone();
        let mut targets = vec![0; pairs.len()];
        for (from, to) in pairs {
            let slot = &mut filled[*from as usize];
            targets[*slot as usize] = *to;
            *slot += 1;
        }
        Self { starts, targets }
    }

    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn targets(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        let pairs: Vec<(u32, u32)> = self.pairs().map(|(from, to)| (to, from)).collect();
        Self::from_pairs(self.nodes(), &pairs)
    }

    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes()).flat_map(|node| {
            let from = u32::try_from(node).expect("nodes are counted in 32 bits");
            self.targets(node).iter().map(move |to| (from, *to))
        })
    }
}
