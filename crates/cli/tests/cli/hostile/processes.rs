//! Processes, descriptors and terminals against an agent that attacks them.
