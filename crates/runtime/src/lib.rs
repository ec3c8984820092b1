//! Sessions: load an artifact, bind it, compile it, call it.
