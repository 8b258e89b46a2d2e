"""What each group of routes does with a call: parse, ask the engine, answer. One file for each first path segment."""
