//! The evaluation: is what Midflight counts right, and what does it cost?
//!
//! | question | module | command |
//! |---|---|---|
//! | Does an instrumented program do what a plain one does? | [`verify`] | `verify --check output` |
//! | Are edge counts exact? | [`edge_oracle`] | `verify --check edges` |
//! | Are sequences of paths exact? | [`block_oracle`], [`replay`] | `verify --check blocks` |
//! | Are activations those of the path profile, and of clang's counters? | [`entry_oracle`] | `verify --check entries` |
//! | Do line counts agree with clang's coverage? | [`coverage`] | `coverage` |
//! | Does it hold on random programs? | [`csmith`] | `csmith` |
//! | Do the programs of compilers' test suites do the same? | [`suite`] | `suite` |
//! | Do whole projects build, and pass their own tests? | [`builds`] | `builds` |
//! | How much of it is left where memory is short? | [`accuracy`] | `accuracy` |
//! | What does it cost, beside its peers? | [`measure`] | `run` |
//! | Does every command of the documentation run? | [`documentation`] | `documentation` |
//! | What do calling contexts cost, and what do the hot ones tell? | [`contexts`] | `contexts …` |
//! | On-stack replacement | [`osr`] | `osr …` |
//! | The functions of the thesis's evaluation of OSR mappings | [`hot`] | `hot` |
//!
//! The programs are data ([`corpus`]); their sources come ([`origin`]) from pinned packages
//! ([`fetch`]) and from Debian's ([`debian`]), and are built ([`build`]) in variants ([`variant`])
//! by the tools that a user has: the command, the plugin and clang, for one of the machines
//! ([`machine`]).

pub mod accuracy;
pub mod block_oracle;
pub mod build;
pub mod builds;
pub mod compare;
pub mod compile_time;
pub mod context_oracle;
pub mod contexts;
pub mod corpus;
pub mod counted_run;
#[cfg(test)]
mod counted_streams;
pub mod coverage;
pub mod csmith;
pub mod debian;
pub mod documentation;
pub mod edge_oracle;
pub mod edge_report;
pub mod entry_oracle;
pub mod error;
pub mod extent;
pub mod fetch;
pub mod fingerprint;
pub mod forest_report;
pub mod held;
pub mod hot;
pub mod inputs;
pub mod layout;
pub mod llvm;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod nested_sql;
pub mod origin;
pub mod osr;
pub mod pairs;
pub mod peak;
pub mod percent;
pub mod pgo;
pub mod process;
pub mod profile_file;
pub mod program;
pub mod replay;
pub mod same_forests;
pub mod sections;
pub mod seeds;
pub mod simulated;
pub mod suite;
pub mod table;
pub mod tables;
pub mod tally;
pub mod variant;
pub mod verify;
pub mod weights;
pub mod workload;
