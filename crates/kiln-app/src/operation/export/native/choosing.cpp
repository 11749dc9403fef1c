thread_local std::string words;

/* The exported architecture whose code runs on the current device. */
int architecture() {
    CUdevice device;
    int major = 0, minor = 0, best = -1;
    check("cuCtxGetDevice", cuCtxGetDevice(&device));
    check("cuDeviceGetAttribute", cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    check("cuDeviceGetAttribute", cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    for (int i = 0; i < int(sizeof archs / sizeof *archs); i++) {
        const Arch &arch = archs[i];
        if (!runs_on(arch.major, arch.minor, arch.plain, major, minor)) continue;
        if (best < 0 || std::tie(arch.minor, archs[best].plain) > std::tie(archs[best].minor, arch.plain)) best = i;
    }
    if (best < 0) throw Error(CUDA_ERROR_NO_BINARY_FOR_GPU, "NAME was not exported for this GPU's architecture");
    return best;
}

/* The launches of a shape, prepared once for each context, and for each stream and each capture into a graph where a kernel keeps
 * something from launch to launch: two streams or two graphs must not share it. */
const Prepared &prepare(const Dims &dims, int variant, CUstream stream) {
    static std::mutex mutex;
    static Modules modules;
    struct Key {
        CUcontext context;
        CUstream stream;
        uint64_t capture;
        int variant;
        Dims dims;
        auto tie() const { return std::tuple_cat(std::tie(context, stream, capture, variant), dims.tie()); }
        bool operator<(const Key &b) const { return tie() < b.tie(); }
    };
    static std::map<Key, Prepared> known;
    CUcontext context = nullptr;
    check("cuCtxGetCurrent", cuCtxGetCurrent(&context));
    const uint64_t capture = STATEFUL ? capture_of(stream) : 0;
    stream = STATEFUL ? stream : nullptr;
    if (!context) throw Error(CUDA_ERROR_INVALID_CONTEXT, "no CUDA context is current");
    std::lock_guard<std::mutex> guard(mutex);
    auto found = known.find({context, stream, capture, variant, dims});
    if (found != known.end()) return found->second;

    const int arch = architecture();
    struct Candidate {
        double far;
        bool other;
        const Row *row;
    };
    std::vector<Candidate> candidates;
    for (size_t i = rows().size(); i-- > 0;) {
        const Row &row = rows()[i];
        if (row.arch == arch && serves(row, dims, variants[variant]))
            candidates.push_back({row.any ? HUGE_VAL : distance(dims, row.dims), row.variant != variant, &row});
    }
    std::vector<std::string> why;
    auto because = [&](const std::string &words) {
        if (!words.empty() && why.size() < 4 && std::find(why.begin(), why.end(), words) == why.end()) why.push_back(words);
    };
    if (candidates.empty()) because(COMPILED);
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
        return std::tie(a.far, a.other) < std::tie(b.far, b.other);
    });
    for (const Candidate &candidate : candidates) {
        Geometry geometry_;
        try {
            geometry_ = geometry(dims, variants[variant], configs[candidate.row->config], archs[arch]);
        } catch (const Error &error) {
            because(error.what());
            continue;
        }
        if (!geometry_.allowed) {
            because(geometry_.why);
            continue;
        }
        for (const Binary &binary : binaries()) {
            if (binary.arch != arch || binary.variant != variant || binary.config != candidate.row->config) continue;
            if (!holds(binary, geometry_)) continue;
            Prepared ready;
            for (const Launch &one : geometry_.launches)
                ready.functions.push_back(modules.function({context, stream, capture}, binary, symbol_of(binary, one.entry), one));
            ready.geometry = std::move(geometry_);
            return known.emplace(Key{context, stream, capture, variant, dims}, std::move(ready)).first->second;
        }
        because(COMPILED);
    }
    std::string words = "NAME has no configuration for this shape";
    for (size_t i = 0; i < why.size(); i++) words += (i ? "; " : ": ") + why[i];
    invalid(words);
}
