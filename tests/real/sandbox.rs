//! Walls around commands: nothing gets out, and ordinary work goes on.

mod corpus;
mod denials;
mod desk;
mod grants;
mod limits;
mod masks;
mod ordinary_user;
mod outside;
mod planting;
mod probe;
mod reports;
mod rooms;
mod runner;
mod settings;
mod stage;
mod walls_off;
mod without_namespaces;
mod work;
