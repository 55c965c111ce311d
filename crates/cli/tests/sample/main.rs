//! `porf cc` and `porf sample` on the programs of corpus/sample and on small ones.

mod answers;
mod command;
mod explorer;
mod findings;
mod leftovers;
mod model;
mod seeds;
mod support;
mod systematic;
