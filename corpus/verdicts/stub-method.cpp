// expect: assertion 12
// options: --stub device::*,scale
// Functions of C++ have their names in the source.
#include <cassert>
struct device {
    bool ready() const;
    double level();
};
double scale(double);
int main() {
    device d;
    assert(!d.ready() || scale(d.level()) >= 0);
}
