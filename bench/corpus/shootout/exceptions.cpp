// Exceptions in every place where a program may have them: destructors that run while others unwind,
// nested handlers, rethrowing, throwing constructors and member initialisers, exceptions through
// many frames, through virtual calls, templates, lambdas and library containers. Single-threaded and
// deterministic. The argument is how often all is repeated.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

std::uint64_t checksum = 1469598103934665603u;
int living = 0;

void mix(std::uint64_t value) { checksum = (checksum ^ value) * 1099511628211u; }

void mix(const std::string &text) {
    for (char c : text)
        mix(static_cast<unsigned char>(c));
}

class Random {
    std::uint32_t state;

  public:
    explicit Random(std::uint32_t seed) : state(seed * 2654435761u + 1) {}
    std::uint32_t next() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    std::uint32_t below(std::uint32_t bound) { return next() % bound; }
};

// Its destructor is seen, so that its order and number are checked.
class Tracked {
    int id;

  public:
    explicit Tracked(int id) : id(id) {
        ++living;
        mix(id);
    }
    Tracked(const Tracked &other) : id(other.id + 1000) {
        ++living;
        mix(id);
    }
    Tracked &operator=(const Tracked &) = default;
    ~Tracked() {
        --living;
        mix(id * 3 + 1);
    }
    int value() const { return id; }
};

struct Failure : std::runtime_error {
    int code;
    Tracked attached;
    Failure(int code, const std::string &text)
        : std::runtime_error(text), code(code), attached(code) {}
};

struct Worse : Failure {
    double weight;
    Worse(int code, double weight) : Failure(code, "worse"), weight(weight) {}
};

// --- constructors that throw: what was made before must go again -------------------------------

struct Member {
    Tracked tracked;
    explicit Member(int id, bool fails) : tracked(id) {
        if (fails)
            throw Failure(id, "member");
    }
};

struct Base {
    Tracked of_base{50};
    virtual ~Base() { mix(51); }
    virtual long visit(Random &random, int depth) = 0;
};

struct Whole : Base {
    Member first, second;
    std::vector<Tracked> many;
    Whole(int which)
    try : first(60, which == 1), second(61, which == 2) {
        for (int i = 0; i < 4; ++i) {
            if (which == 3 + i)
                throw Worse(70 + i, i * 0.5);
            many.emplace_back(80 + i);
        }
    } catch (Failure &failure) {
        mix(failure.code);
        failure.code += 7; // and is thrown again
    }
    long visit(Random &random, int depth) override {
        long sum = first.tracked.value();
        for (const Tracked &t : many)
            sum += t.value() * long(random.below(7));
        return sum + depth;
    }
};

// --- through many frames -----------------------------------------------------------------------

struct Leaf : Base {
    int limit;
    explicit Leaf(int limit) : limit(limit) {}
    long visit(Random &random, int depth) override {
        Tracked here(depth);
        if (depth >= limit) {
            switch (random.below(5)) {
            case 0: throw Failure(depth, "leaf");
            case 1: throw Worse(depth, depth * 1.25);
            case 2: throw depth;
            case 3: throw std::string("text ") + std::to_string(depth);
            default: return depth;
            }
        }
        std::string local(depth % 37, 'a' + depth % 26);
        long result = visit(random, depth + 1);
        return result + long(local.size()) + here.value();
    }
};

long descend(Base &base, Random &random) {
    long result = 0;
    for (int round = 0; round < 3; ++round) {
        try {
            try {
                result += base.visit(random, round);
            } catch (const Worse &worse) {
                result += long(worse.weight * 8);
                Tracked during(5);
                if (random.below(2))
                    throw; // what is handled here is thrown on
                mix(worse.code);
            } catch (const Failure &failure) {
                result += failure.code;
                try {
                    throw Failure(failure.code + 1, "while handling");
                } catch (Failure &inner) {
                    inner.code += failure.code;
                    if (inner.code % 3 == 0)
                        throw;
                    mix(inner.what());
                }
            }
        } catch (const Worse &worse) {
            result -= worse.code;
        } catch (const std::exception &error) {
            mix(error.what());
            result += 2;
        } catch (int number) {
            result += number * 10;
        } catch (...) {
            result += 1;
            mix(9);
        }
    }
    return result;
}

// --- templates, lambdas, containers --------------------------------------------------------------

template <typename Key, typename Value> class Checked {
    std::map<Key, Value> map;

  public:
    void put(const Key &key, Value value) {
        if (!map.emplace(key, std::move(value)).second)
            throw std::invalid_argument("twice");
    }
    const Value &get(const Key &key) const { return map.at(key); }
    template <typename F> auto fold(F f) const {
        decltype(f(0, map.begin()->second)) sum{};
        for (const auto &entry : map)
            sum = f(sum, entry.second);
        return sum;
    }
};

template <typename F> int guarded(F &&f) noexcept {
    try {
        return f();
    } catch (const std::out_of_range &) {
        return -1;
    } catch (const std::logic_error &) {
        return -2;
    } catch (...) {
        return -3;
    }
}

long containers(Random &random) {
    Checked<std::string, double> by_name;
    Checked<int, std::vector<int>> by_number;
    long result = 0;
    for (int i = 0; i < 30; ++i) {
        int key = int(random.below(20));
        result += guarded([&] {
            by_name.put("key " + std::to_string(key), key * 0.75);
            by_number.put(key, std::vector<int>(key, i));
            return key;
        });
        result += guarded([&, key] { return int(by_number.get(key + 3).size()); });
        result += guarded([&] { return int(by_name.get("key " + std::to_string(i)) * 4); });
        result += guarded([&] { return std::stoi(i % 3 ? std::to_string(i) : "none"); });
        result += guarded([&]() -> int { throw std::bad_alloc(); });
    }
    result += long(by_name.fold([](double sum, double value) { return sum + value; }) * 4);
    return result + by_number.fold([](long sum, const std::vector<int> &values) {
        return sum + std::accumulate(values.begin(), values.end(), 0L);
    });
}

struct Rollback {
    std::function<void()> undo;
    ~Rollback() {
        if (undo)
            undo();
    }
};

long transactions(Random &random) {
    std::vector<long> accounts{100, 200, 300, 400};
    long failures = 0;
    for (int i = 0; i < 25; ++i) {
        try {
            std::vector<long> before = accounts;
            Rollback rollback{[&] { accounts = before; }};
            unsigned from = random.below(4), to = random.below(5);
            long amount = long(random.below(300));
            accounts.at(from) -= amount;
            if (accounts[from] < 0)
                throw Failure(int(from), "overdrawn");
            accounts.at(to) += amount;
            rollback.undo = nullptr;
        } catch (const Failure &failure) {
            failures += failure.code + 1;
        } catch (const std::out_of_range &) {
            failures += 100;
        }
    }
    return failures + std::accumulate(accounts.begin(), accounts.end(), 0L) * 1000;
}

// An exception that is kept, and thrown later somewhere else.
long kept(Random &random) {
    std::vector<std::exception_ptr> all;
    for (int i = 0; i < 6; ++i) {
        try {
            Whole whole(int(random.below(9)));
            mix(std::uint64_t(whole.visit(random, i)));
        } catch (...) {
            all.push_back(std::current_exception());
        }
    }
    long sum = 0;
    while (!all.empty()) {
        std::exception_ptr one = std::move(all.back());
        all.pop_back();
        try {
            std::rethrow_exception(one);
        } catch (const Worse &worse) {
            sum += long(worse.weight * 100);
        } catch (const Failure &failure) {
            sum += failure.code;
        }
    }
    return sum;
}

// Handlers that are left by return, break and continue.
int left(Random &random) {
    int sum = 0;
    for (int i = 0; i < 40; ++i) {
        Tracked each(i);
        try {
            if (random.below(4) == 0)
                throw i;
            sum += each.value();
        } catch (int thrown) {
            Tracked inside(thrown);
            if (thrown % 5 == 1)
                continue;
            if (thrown % 7 == 6)
                break;
            if (thrown > 36)
                return -sum;
            sum -= inside.value();
        }
    }
    return sum;
}

// Cleanups that are inlined into the function with the handler, and of which little is live.
struct Counted {
    static std::uint64_t gone;
    ~Counted() { ++gone; }
};
std::uint64_t Counted::gone = 0;

[[gnu::noinline]] void fail(int code) { throw code; }

[[gnu::always_inline]] inline void in_catcher() {
    Counted all[60];
    fail(1);
}

[[gnu::always_inline]] inline void in_both(int code) {
    Counted all[5];
    in_catcher();
    fail(code);
}

long cleaned() {
    long sum = 0;
    for (int i = 0; i < 3; ++i) {
        try {
            in_catcher();
        } catch (int code) {
            sum += code;
        }
        try {
            in_both(i);
        } catch (int code) {
            sum += 10 * code;
        }
    }
    return sum + long(Counted::gone);
}

// Places that are kept in registers while a loop runs, and written back behind it.
void stir(std::uint64_t &place, unsigned count) noexcept {
    unsigned i = 0;
    do {
        place = (place ^ i) * 1099511628211u;
        if (place & 1)
            i += unsigned(place >> 7) & 1;
    } while (++i < count);
}

} // namespace

int main(int argc, char **argv) {
    int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
    Random random(42);
    for (int round = 0; round < rounds; ++round) {
        std::unique_ptr<Base> base;
        if (round % 2)
            base = std::make_unique<Leaf>(3 + int(random.below(9)));
        else
            base = std::make_unique<Whole>(0);
        mix(std::uint64_t(descend(*base, random)));
        mix(std::uint64_t(containers(random)));
        mix(std::uint64_t(transactions(random)));
        mix(std::uint64_t(kept(random)));
        mix(std::uint64_t(left(random)));
        mix(std::uint64_t(cleaned()));
        stir(checksum, 5 + unsigned(round % 7));
        std::printf("%d %016llx\n", round, static_cast<unsigned long long>(checksum));
    }
    std::printf("%d are left\n", living);
    return living ? 1 : int(checksum % 7);
}
