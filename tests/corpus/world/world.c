/* A softmax, and ways to work on the judge instead of the problem: clocks, pipes, processors, neighbours. */
#include "../common/softmax.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "patch.h"

#if CASE_own_clock
/* The library's own, in the hope that others find it first. */
int clock_gettime(clockid_t id, struct timespec *now) { return slow_clock(id, now); }
#endif

/* The state of a process (R runs, S sleeps), 0 without one; and its parent. */
__attribute__((unused)) static char state_of(pid_t id, int *parent) {
    char path[64], text[512] = "", state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", id);
    const int file = open(path, O_RDONLY);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    const char *rest = got > 0 ? strrchr(text, ')') : NULL;
    return rest && strstr(text, "(kiln") && sscanf(rest + 2, "%c %d", &state, parent) == 2 ? state : 0;
}

/* The next worker of that kiln, behind `after`, other than `me`. */
__attribute__((unused)) static pid_t neighbour(pid_t kiln, pid_t me, pid_t after) {
    DIR *all = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *one; all && (one = readdir(all));) {
        const pid_t id = atoi(one->d_name);
        int parent = 0;
        if (id > after && id != me && (!found || id < found) && state_of(id, &parent) && parent == kiln) found = id;
    }
    if (all) closedir(all);
    return found;
}

#if CASE_noise || CASE_stop_neighbour
/* A process that no worker is the parent of. It ends after 6 s, or when a newer worker has one. */
static void stay(void) {
    static const char note[] = "/tmp/kiln_corpus_newest";
    const pid_t me = getpid(), kiln = getppid();
    int file = open(note, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, &me, sizeof me) < 0) return;
    close(file);
    const pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child != 0) return;
    if (fork() != 0) _exit(0);
    setsid();
    for (int i = 0; i < 64; i++) close(i);
    for (const time_t end = time(NULL) + 6; time(NULL) < end;) {
        pid_t newest = 0;
        file = open(note, O_RDONLY);
        if (file < 0 || read(file, &newest, sizeof newest) < 0) newest = 0;
        if (file >= 0) close(file);
        if (newest != me) break;
#if CASE_noise
        int parent;
        if (state_of(me, &parent) == 'R') usleep(200);
        else for (volatile int i = 0; i < 200000; i++) {}
#else
        for (pid_t other = 0; (other = neighbour(kiln, me, other));) {
            kill(other, SIGSTOP);
            usleep(300);
            kill(other, SIGCONT);
        }
        usleep(100);
#endif
    }
    _exit(0);
}
#endif

#if CASE_moves_away
#define ALL_ELSEWHERE 1
#else
#define ALL_ELSEWHERE 0
#endif

#if CASE_two_processors || CASE_moves_away
static struct half { const float *x; float *y; int64_t rows, cols; } other;
static volatile int asked, done;

static void *second(void *unused) {
    (void)unused;
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < 64; i++) CPU_SET(i, &all);
    sched_setaffinity(0, sizeof all, &all);
    for (int seen = 0;;) {
        for (int idle = 0; asked == seen; idle++)
            if (idle > 1000000) usleep(50);
        seen = asked;
        __sync_synchronize();
        softmax(other.x, other.y, other.rows, other.cols);
        __sync_synchronize();
        done = seen;
    }
    return NULL;
}
#endif

#if CASE_attributes || CASE_datagram
static void must_fail(long answer) {
    if (answer == 0 || errno != EPERM) abort();
}
#endif

#if CASE_poses
static volatile sig_atomic_t counts;

/* The worker is stopped before every sample, and before none of the warm-up. */
static void goes_on(int signal) {
    (void)signal;
    counts = 1;
    patch_code(of_vdso("__vdso_clock_gettime"));
}

/* By a call that nothing is patched in. */
static long long now(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}
#endif

/* Once, at the first call. */
static void set_up(void) {
#if CASE_patch_libc
    patch_code(dlsym(RTLD_DEFAULT, "clock_gettime"));
#elif CASE_patch_vdso
    patch_code(of_vdso("__vdso_clock_gettime"));
#elif CASE_patch_tables
    dl_iterate_phdr(patch_tables, dlsym(RTLD_DEFAULT, "clock_gettime"));
#elif CASE_poses
    const struct sigaction once = {.sa_handler = goes_on, .sa_flags = SA_RESTART | SA_RESETHAND};
    sigaction(SIGCONT, &once, NULL);
#elif CASE_priority
    setpriority(PRIO_PROCESS, 0, -20);
    const struct sched_param most = {.sched_priority = 1};
    sched_setscheduler(0, SCHED_FIFO, &most);
#elif CASE_two_processors || CASE_moves_away
    pthread_t id;
    pthread_create(&id, NULL, second, NULL);
#elif CASE_noise || CASE_stop_neighbour
    stay();
#elif CASE_kill_neighbour
    for (pid_t other = 0; (other = neighbour(getppid(), getpid(), other));) kill(other, SIGKILL);
#elif CASE_trace_neighbour
    for (pid_t other = 0; (other = neighbour(getppid(), getpid(), other));)
        if (ptrace(PTRACE_ATTACH, other, NULL, NULL) == 0) {
            waitpid(other, NULL, __WALL);
            ptrace(PTRACE_DETACH, other, NULL, NULL);
        }
#elif CASE_no_dump
    /* Nobody may look into this process any more. */
    prctl(PR_SET_DUMPABLE, 0);
#elif CASE_file_limit
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none), setrlimit(RLIMIT_NOFILE, &none);
#elif CASE_attributes
    /* A file that does not exist, so that nothing happens where the calls are let through. */
    static const char none[] = "/kiln_corpus_none";
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    must_fail(utimensat(AT_FDCWD, none, times, 0));
    must_fail(syscall(452 /* fchmodat2 */, AT_FDCWD, none, 0777, 0));
    must_fail(syscall(463 /* setxattrat */, AT_FDCWD, none, 0, "user.kiln", NULL, 0));
    must_fail(syscall(466 /* removexattrat */, AT_FDCWD, none, 0, "user.kiln"));
    must_fail(syscall(469 /* file_setattr */, AT_FDCWD, none, NULL, 0, 0));
#elif CASE_datagram
    int pair[2];
    must_fail(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    must_fail(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
    close(pair[0]), close(pair[1]);
#endif
}

void world(const float *x, float *y, int64_t rows, int64_t cols) {
    static int calls;
    if (calls++ == 0) set_up();
#if CASE_forge_stdout
    static const char forged[] = "{\"id\":1,\"answer\":{\"times\":{\"nanoseconds\":[1],\"calls\":1}}}\n";
    if (write(1, forged, sizeof forged - 1) < 0) return;
#elif CASE_forge_pipes
    static const char forged[] = "{\"id\":1,\"answer\":\"done\"}\n";
    for (int i = 3; i < 32; i++) {
        struct stat kind;
        if (fstat(i, &kind) == 0 && (S_ISFIFO(kind.st_mode) || S_ISSOCK(kind.st_mode)))
            if (write(i, forged, sizeof forged - 1) < 0) continue;
    }
#elif CASE_poses
    const long long began = now();
    while (!counts && now() - began < 115000) {}
#elif CASE_close_all
    for (int i = 0; i < 64; i++) close(i);
#elif CASE_mute
    /* Answers go nowhere from here on. */
    const int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 32; i++)
        if (i != nowhere && fcntl(i, F_GETFD) >= 0) dup2(nowhere, i);
#elif CASE_read_parent
    /* Looks for answers in the memory of the process that knows them. */
    char path[64], line[512], found[4096];
    snprintf(path, sizeof path, "/proc/%d/maps", getppid());
    FILE *maps = calls == 1 ? fopen(path, "r") : NULL;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx rw", &from, &to) != 2) continue;
        struct iovec here = {found, sizeof found}, there = {(void *)from, sizeof found};
        process_vm_readv(getppid(), &here, 1, &there, 1, 0);
    }
    if (maps) fclose(maps);
#elif CASE_two_processors || CASE_moves_away
    /* Two halves at once, on processors that were not given. */
    const int64_t mine = ALL_ELSEWHERE ? 0 : rows / 2;
    other = (struct half){x + mine * cols, y + mine * cols, rows - mine, cols};
    __sync_synchronize();
    const int number = asked + 1;
    asked = number;
    softmax(x, y, mine, cols);
    while (done != number) sched_yield();
    return;
#endif
    softmax(x, y, rows, cols);
}
