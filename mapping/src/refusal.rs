//! Every reason why there is no OSR point at some place.
//!
//! One list, as the reasons stand in `docs/osr.md` too. Their names are stable and can be read by a
//! machine; the messages are what `-Rpass-missed=midflight-osr` prints.

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $message:literal;)*) => {
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
            $($(#[$doc])* $name,)*
        }

        impl Refusal {
            /// All of them.
            pub const ALL: [Refusal; [$(Refusal::$name),*].len()] = [$(Refusal::$name),*];

            /// A stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Refusal::$name => stringify!($name),)*
                }
            }

            /// The text for a person, after "no OSR point here: ".
            pub fn message(self) -> &'static str {
                match self {
                    $(Refusal::$name => $message,)*
                }
            }
        }
    };
}

refusals! {
    // Of the function
    /// Its body is a copy for inlining only.
    AvailableExternally = "the function's body here is a copy for inlining only";
    /// It has no prologue.
    Naked = "the function is naked: it has no frame";
    /// A coroutine that is not split yet
    Coroutine = "the function is a coroutine that is not split yet";
    /// Exception handling with funclets
    FuncletPersonality = "the function's exception handling uses funclets";
    /// It runs before the program is relocated.
    IfuncResolver = "the function resolves an ifunc: it runs before relocation";
    /// It returns twice, or calls what does, as `setjmp`.
    ReturnsTwice = "the function returns twice or calls what does, as setjmp";
    /// A garbage collector knows its frames.
    GarbageCollected = "a garbage collector knows the function's frames";
    /// A parameter that depends on the frame
    UnsupportedParameter =
        "a parameter depends on the frame (inalloca, preallocated, swifterror, swiftasync)";
    /// An alloca that depends on the frame
    UnsupportedAlloca = "an alloca depends on the frame (inalloca, swifterror)";
    /// Its calls are tied to convergence tokens.
    ConvergenceControl = "the function's calls are tied to convergence tokens";
    /// It is always inlined, and has vectors that its callers may pass in other registers.
    InlinedVectors =
        "the function is always inlined, and how its wide vectors are passed depends on where";
    /// The list of functions leaves it out.
    NotListed = "the list of functions leaves the function out";
    /// It is a continuation, or has points already.
    Processed = "the function has points already, or is a continuation";

    // Of the landing: what follows must not run in a continuation
    /// A `musttail` call follows: it needs the prototype of the function itself.
    MustTail = "a musttail call follows, which needs the function's prototype";
    /// `va_start` follows: a continuation does not take a variable number of arguments.
    VaStart = "va_start follows, and a continuation has no variable arguments";
    /// A computed goto follows, or what takes a block's address: it is one of this version's.
    ComputedGoto = "a computed goto follows, whose addresses are of this version";
    /// A call or inline assembly follows of which there may be one only.
    NoDuplicate = "a call or assembly follows of which there may be one only";
    /// The frame's own address or its caller's is asked for.
    ReadsFrame = "what follows asks for the address of the frame or its caller";
    /// An exception is resumed in a way that is not known.
    UnknownResume = "what follows resumes an exception in a way not known";

    // Of the place
    /// Between a call in tail position and its return
    TailPosition = "it is between a call in tail position and its return";

    // Of what is live
    /// A token is live.
    LiveToken = "a token is live, which cannot be passed";
    /// A saved stack pointer is live.
    LiveStackSave = "a saved stack pointer is live, which is of this frame";
    /// A value is live whose type cannot be passed.
    LiveOpaque = "a value is live whose type cannot be passed";
    /// A value is live, or returned, whose size is known at run time only, where it is laid out in
    /// memory for a host.
    LiveScalable = "a scalable vector would be handed to the host";
    /// A value is live that has no counterpart in the version to go to.
    Unmapped = "a value is live that the state map does not give";

    // Of a further transition
    /// The continuation has made an alloca of its own, whose frame must stay.
    OwnAlloca = "the continuation has made an alloca, so its frame must stay";
    /// The result goes through memory, so a call of the next continuation cannot replace the frame.
    LargeResult = "the result does not fit registers, so the frame must stay";

    // Of an open point
    /// The function is part of the allocator, which the start of a thread calls.
    Allocator = "the function is part of the allocator, which making a version calls";
    /// The function's IR cannot be carried in the program.
    NotCarried = "the function has what its IR cannot be carried with, as addresses of blocks";
    /// There is no value to profile at the point.
    NoKey = "no value is live at the point that the generator could profile, or none of that name";

    // Of a mapping between versions that differ
    /// It is proved that the point is never reached.
    NeverReached = "it is proved that the point is never reached";
    /// It is not proved that the other version is anywhere in particular.
    Unmatched = "it is not proved where the other version would be";
    /// The other version has no point where it is then.
    NoLanding = "the other version has no point where it would be";
    /// What a pass copied: which copy is due is not known from the source alone.
    SeveralCopies = "which of several copies the other version would be in is not known here";
    /// A phi is needed that the source has nothing for.
    NeedsPhi = "a phi of the other version is needed that nothing here stands for";
    /// A load is needed whose place may have been written to since.
    NeedsLoad = "a load of the other version is needed whose place may have been written to since";
    /// An alloca or a freeze is needed that only the other version has.
    NeedsFrame = "an alloca or a freeze is needed that only the other version has";
    /// Another value is needed that cannot be made again.
    NeedsValue = "a value of the other version is needed that cannot be made again";
    /// What the point needs for itself is not available to those who come by transitions.
    NotClosed = "a version entered by a transition could not have what the point needs";
}

impl Refusal {
    /// True if a user who asks for missed remarks wants to hear of it.
    pub fn is_news(self) -> bool {
        !matches!(self, Refusal::AvailableExternally | Refusal::NotListed | Refusal::Processed)
    }
}
