//! For tests only: hermetic repositories and scripted agents.
