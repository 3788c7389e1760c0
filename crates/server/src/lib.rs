//! REST and SSE over an engine: `pleach serve`.
