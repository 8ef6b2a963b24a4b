//! Every reason why there is no OSR point at some place.
//!
//! One list, as the reasons stand in `docs/osr.md` too. The names are stable and can be read by a
//! machine; the messages are what `-Rpass-missed=midflight-osr` prints.

/// Why a point is refused.
///
/// ```
/// use midflight_mapping::refusal::Refusal;
///
/// for reason in Refusal::ALL {
///     println!("{}: {}", reason.name(), reason.message());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    // Of the function
    /// Its body is a copy for inlining only.
    AvailableExternally,
    /// It has no prologue.
    Naked,
    /// A coroutine that is not split yet
    Coroutine,
    /// Exception handling with funclets
    FuncletPersonality,
    /// It runs before the program is relocated.
    IfuncResolver,
    /// It returns twice, or calls what does, as `setjmp`.
    ReturnsTwice,
    /// A garbage collector knows its frames.
    GarbageCollected,
    /// A parameter that depends on the frame
    UnsupportedParameter,
    /// An alloca that depends on the frame
    UnsupportedAlloca,
    /// Its calls are tied to convergence tokens.
    ConvergenceControl,
    /// It is always inlined, and has vectors that its callers may pass in other registers.
    InlinedVectors,
    /// The list of functions leaves it out.
    NotListed,
    /// It is a continuation, or has points already.
    Processed,

    // Of the landing: what follows must not run in a continuation
    /// A `musttail` call follows: it needs the prototype of the function itself.
    MustTail,
    /// `va_start` follows: a continuation does not take a variable number of arguments.
    VaStart,
    /// A computed goto follows, or what takes a block's address: it is one of this version's.
    ComputedGoto,
    /// A call or inline assembly follows of which there may be one only.
    NoDuplicate,
    /// The frame's own address or its caller's is asked for.
    ReadsFrame,
    /// An exception is resumed in a way that is not known.
    UnknownResume,

    // Of the place
    /// Between a call in tail position and its return
    TailPosition,

    // Of what is live
    /// A token is live.
    LiveToken,
    /// A saved stack pointer is live.
    LiveStackSave,
    /// A value is live whose type cannot be passed.
    LiveOpaque,
    /// A value is live, or returned, whose size is known at run time only, where it is laid out in
    /// memory for a host.
    LiveScalable,
    /// A value is live that has no counterpart in the version to go to.
    Unmapped,

    // Of a further transition
    /// The continuation has made an alloca of its own, whose frame must stay.
    OwnAlloca,
    /// The result goes through memory, so a call of the next continuation cannot replace the frame.
    LargeResult,

    // Of a mapping between versions that differ
    /// It is proved that the point is never reached.
    NeverReached,
    /// It is not proved that the other version is anywhere in particular.
    Unmatched,
    /// The other version has no point where it is then.
    NoLanding,
    /// A phi is needed that the source has nothing for.
    NeedsPhi,
    /// A load is needed whose place may have been written to since.
    NeedsLoad,
    /// An alloca or a freeze is needed that only the other version has.
    NeedsFrame,
    /// Another value is needed that cannot be made again.
    NeedsValue,
    /// What the point needs for itself is not available to those who come by transitions.
    NotClosed,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 35] = [
        Refusal::AvailableExternally,
        Refusal::Naked,
        Refusal::Coroutine,
        Refusal::FuncletPersonality,
        Refusal::IfuncResolver,
        Refusal::ReturnsTwice,
        Refusal::GarbageCollected,
        Refusal::UnsupportedParameter,
        Refusal::UnsupportedAlloca,
        Refusal::ConvergenceControl,
        Refusal::InlinedVectors,
        Refusal::NotListed,
        Refusal::Processed,
        Refusal::MustTail,
        Refusal::VaStart,
        Refusal::ComputedGoto,
        Refusal::NoDuplicate,
        Refusal::ReadsFrame,
        Refusal::UnknownResume,
        Refusal::TailPosition,
        Refusal::LiveToken,
        Refusal::LiveStackSave,
        Refusal::LiveOpaque,
        Refusal::LiveScalable,
        Refusal::Unmapped,
        Refusal::OwnAlloca,
        Refusal::LargeResult,
        Refusal::NeverReached,
        Refusal::Unmatched,
        Refusal::NoLanding,
        Refusal::NeedsPhi,
        Refusal::NeedsLoad,
        Refusal::NeedsFrame,
        Refusal::NeedsValue,
        Refusal::NotClosed,
    ];

    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::AvailableExternally => "AvailableExternally",
            Refusal::Naked => "Naked",
            Refusal::Coroutine => "Coroutine",
            Refusal::FuncletPersonality => "FuncletPersonality",
            Refusal::IfuncResolver => "IfuncResolver",
            Refusal::ReturnsTwice => "ReturnsTwice",
            Refusal::GarbageCollected => "GarbageCollected",
            Refusal::UnsupportedParameter => "UnsupportedParameter",
            Refusal::UnsupportedAlloca => "UnsupportedAlloca",
            Refusal::ConvergenceControl => "ConvergenceControl",
            Refusal::InlinedVectors => "InlinedVectors",
            Refusal::NotListed => "NotListed",
            Refusal::Processed => "Processed",
            Refusal::MustTail => "MustTail",
            Refusal::VaStart => "VaStart",
            Refusal::ComputedGoto => "ComputedGoto",
            Refusal::NoDuplicate => "NoDuplicate",
            Refusal::ReadsFrame => "ReadsFrame",
            Refusal::UnknownResume => "UnknownResume",
            Refusal::TailPosition => "TailPosition",
            Refusal::LiveToken => "LiveToken",
            Refusal::LiveStackSave => "LiveStackSave",
            Refusal::LiveOpaque => "LiveOpaque",
            Refusal::LiveScalable => "LiveScalable",
            Refusal::Unmapped => "Unmapped",
            Refusal::OwnAlloca => "OwnAlloca",
            Refusal::LargeResult => "LargeResult",
            Refusal::NeverReached => "NeverReached",
            Refusal::Unmatched => "Unmatched",
            Refusal::NoLanding => "NoLanding",
            Refusal::NeedsPhi => "NeedsPhi",
            Refusal::NeedsLoad => "NeedsLoad",
            Refusal::NeedsFrame => "NeedsFrame",
            Refusal::NeedsValue => "NeedsValue",
            Refusal::NotClosed => "NotClosed",
        }
    }

    /// The text for a person, after "no OSR point here: ".
    pub fn message(self) -> &'static str {
        match self {
            Refusal::AvailableExternally => "the function's body here is a copy for inlining only",
            Refusal::Naked => "the function is naked: it has no frame",
            Refusal::Coroutine => "the function is a coroutine that is not split yet",
            Refusal::FuncletPersonality => "the function's exception handling uses funclets",
            Refusal::IfuncResolver => "the function resolves an ifunc: it runs before relocation",
            Refusal::ReturnsTwice => "the function returns twice or calls what does, as setjmp",
            Refusal::GarbageCollected => "a garbage collector knows the function's frames",
            Refusal::UnsupportedParameter => {
                "a parameter depends on the frame (inalloca, preallocated, swifterror, swiftasync)"
            }
            Refusal::UnsupportedAlloca => "an alloca depends on the frame (inalloca, swifterror)",
            Refusal::ConvergenceControl => "the function's calls are tied to convergence tokens",
            Refusal::InlinedVectors => {
                "the function is always inlined, and how its wide vectors are passed depends on where"
            }
            Refusal::NotListed => "the list of functions leaves the function out",
            Refusal::Processed => "the function has points already, or is a continuation",
            Refusal::MustTail => "a musttail call follows, which needs the function's prototype",
            Refusal::VaStart => "va_start follows, and a continuation has no variable arguments",
            Refusal::ComputedGoto => "a computed goto follows, whose addresses are of this version",
            Refusal::NoDuplicate => "a call or assembly follows of which there may be one only",
            Refusal::ReadsFrame => "what follows asks for the address of the frame or its caller",
            Refusal::UnknownResume => "what follows resumes an exception in a way not known",
            Refusal::TailPosition => "it is between a call in tail position and its return",
            Refusal::LiveToken => "a token is live, which cannot be passed",
            Refusal::LiveStackSave => "a saved stack pointer is live, which is of this frame",
            Refusal::LiveOpaque => "a value is live whose type cannot be passed",
            Refusal::LiveScalable => "a scalable vector would be handed to the host",
            Refusal::Unmapped => "a value is live that the state map does not give",
            Refusal::LargeResult => "the result does not fit registers, so the frame must stay",
            Refusal::OwnAlloca => "the continuation has made an alloca, so its frame must stay",
            Refusal::NeverReached => "it is proved that the point is never reached",
            Refusal::Unmatched => "it is not proved where the other version would be",
            Refusal::NoLanding => "the other version has no point where it would be",
            Refusal::NeedsPhi => {
                "a phi of the other version is needed that nothing here stands for"
            }
            Refusal::NeedsLoad => {
                "a load of the other version is needed whose place may have been written to since"
            }
            Refusal::NeedsFrame => {
                "an alloca or a freeze is needed that only the other version has"
            }
            Refusal::NeedsValue => {
                "a value of the other version is needed that cannot be made again"
            }
            Refusal::NotClosed => {
                "a version entered by a transition could not have what the point needs"
            }
        }
    }

    /// True if a user who asks for missed remarks wants to hear of it.
    pub fn is_news(self) -> bool {
        !matches!(self, Refusal::AvailableExternally | Refusal::NotListed | Refusal::Processed)
    }
}
