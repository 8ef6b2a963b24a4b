//! Calling contexts (thesis 3.1): a tree for each thread.
//!
//! The protocol of emitted code is in `midflight_abi::contexts`. It finds nodes that are there, and
//! that the stack confirms; all else is done here:
//!
//! | module | |
//! |---|---|
//! | `word` | the thread-local word |
//! | `enter` | the node of an activation that has not found it |
//! | `burst` | when contexts are counted in bursts |
//! | `calls` | call sites by return addresses, where there are bursts |
//! | `outside` | activations that have begun between bursts |
//! | `tree` | a thread's tree: nodes, and where their memory is from |
//! | `function` | the functions in a tree |
//! | `fallback` | the node that stands in where none can be made |
//! | `head` | what stands before nodes |
//! | `hot` | hot contexts in bounded memory |
//! | `paths` | paths of hot contexts |
//! | `recover` | the node that is under way, where frames were left without a return |
//! | `unwinder` | what the unwinder tells, if there is one |
//! | `time` | the times that contexts take |
//! | `walk` | all nodes in preorder |
//! | `write` | the tree in a profile |
//!
//! Where all of a tree is kept, nodes are added by the tree's own thread and its handlers of
//! signals, without a lock and without blocking signals, and never freed: whoever reads a tree
//! finds it whole.

pub mod burst;
pub mod calls;
pub mod enter;
pub mod fallback;
pub mod function;
pub mod head;
pub mod hot;
pub mod outside;
pub mod paths;
pub mod recover;
pub mod time;
pub mod tree;
pub mod unwinder;
pub mod walk;
pub mod word;
pub mod write;
