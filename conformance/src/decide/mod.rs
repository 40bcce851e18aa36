//! What a run amounts to: whether an upgrade, or a server against its baseline, may go ahead.
