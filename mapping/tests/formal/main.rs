//! The formal model of on-stack replacement, executable: D. C. D'Elia, "On-Stack Replacement"
//! (thesis, Sapienza 2016), 4.2.1 to 4.2.4, with its lemmas and theorems as properties of random
//! programs.
//!
//! | thesis | module |
//! |---|---|
//! | Fig. 4.9, Def. 4.1: the language | [`language`] |
//! | Def. 4.2 to 4.7: stores, transitions, traces | [`semantics`] |
//! | Def. 4.8 to 4.10: control flow graph, temporal operators | [`ctl`] |
//! | Fig. 4.10, Def. 4.11, Lemma 4.1: predicates, live variables | [`predicates`] |
//! | Def. 4.12, 4.13, Fig. 4.11: CP, DCE, Hoist | [`rules`] |
//! | Def. 4.15, Algorithms 7 to 9: OSR_trans, build_comp, reconstruct | [`osr_trans`] |
//! | Def. 4.20, Lemmas 4.5, 4.6, Algorithm 10: composition, do_passes | [`do_passes`] |
//! | Def. 4.21 to 4.26: multi-version programs | [`multi_version`] |
//! | Def. 4.14, 4.16 to 4.19, Lemmas 4.4 and 4.7, Theorems 4.2 and 4.3 | [`properties`] |
//!
//! To the letter, some of it is wrong. Where it is, the module says so, the literal version stays
//! with a counterexample, and the properties are tested of a repaired one:
//!
//! | what fails to the letter | repaired | where |
//! |---|---|---|
//! | Lemma 4.1 and OSR at point 1: `in` uses nothing | `in` uses its variables | [`predicates`], [`properties`] |
//! | Lemma 4.1 between restricted stores: variables die | stores are compared on live variables | [`predicates`] |
//! | CP with a jump to `in`, DCE in a loop without an exit, and others | programs are as assumed | [`assumptions`] |
//! | Example 4.1: no point dominates itself | it is strict dominance | [`predicates`] |
//! | Theorem 4.2: related states of different iterations | index by index | [`properties`] |
//! | Theorem 4.1 for several transformations as one | their mappings are composed | [`properties`] |
//! | Corollary 4.1 for programs that never end | | [`properties`] |
//! | Algorithms 8 and 9: values are overwritten | a variable for each definition | [`osr_trans`], [`renamed`] |
//! | Lemma 4.5: `out` undefines, composition does not | programs are as assumed | [`do_passes`] |
//! | Theorem 4.3: an oracle that fires forever | an instruction between two OSRs | [`multi_version`] |

mod assumptions;
mod checking;
mod ctl;
mod do_passes;
mod language;
mod multi_version;
mod mutants;
mod osr_trans;
mod predicates;
mod programs;
mod properties;
mod renamed;
mod rules;
mod semantics;
